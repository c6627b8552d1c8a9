import { type BackupFile, backupHandlers } from '../features/backups/index.ts';
import { configurationHandlers } from '../features/configuration/index.ts';
import type { Caller, Handler } from '../handler.ts';
import type { Reloader } from '../process/reloader.ts';
import type { Storage } from '../storage/storage.ts';
import type { ProcessFacts } from './status.ts';

/** What the process gives to the endpoints that keep it in order. */
export interface AdminDeps {
  storage: Storage;
  /** Tells the settings, and reads them anew. */
  reloader: Pick<Reloader, 'describe' | 'reload'>;
  /** What a backup deps beside the database. */
  backupFiles: () => Promise<BackupFile[]>;
  process: ProcessFacts;
}

interface Peers {
  workspaces: { requireDaemonOwner(caller: Caller): Promise<void> };
  now: () => number;
}

/** The endpoints by which whoever runs the daemon keeps it in order. */
export function adminHandlers(deps: AdminDeps, { workspaces, now }: Peers): Handler[] {
  const requireDaemonOwner = (caller: Caller) => workspaces.requireDaemonOwner(caller);
  return [
    ...backupHandlers({
      store: deps.storage.backups,
      files: deps.backupFiles,
      version: deps.process.version,
      now,
      requireDaemonOwner,
    }),
    ...configurationHandlers({ ...deps.reloader, requireDaemonOwner }),
  ];
}
