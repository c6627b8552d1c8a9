import type { ConfigFault } from '../../shared/daemon-module.ts';

interface WorkersCase {
  flags: { workers?: number | undefined; record?: string | undefined; replay?: string | undefined };
  platform: string;
  /** Whether the data is in PostgreSQL. */
  usesServer: boolean;
}

/** Why several threads cannot serve calls here; none if they can. */
export function workersFaults({ flags, platform, usesServer }: WorkersCase): ConfigFault[] {
  const place = flags.workers === undefined ? 'workers' : '--workers';
  const fault = (message: string): ConfigFault[] => [{ place, message }];
  if (platform !== 'linux' && platform !== 'freebsd')
    return fault('Several workers need a system on which threads can share a port: Linux or FreeBSD.');
  if (usesServer)
    return fault(
      'Several workers need SQLite. With PostgreSQL, start several daemons behind a proxy instead.',
    );
  const recordings = flags.record !== undefined || flags.replay !== undefined;
  return recordings ? fault('Provider calls can be recorded and replayed by one worker only.') : [];
}
