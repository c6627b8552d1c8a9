import { type BackupFile, backupHandlers } from '../features/backups/index.ts';
import { configurationHandlers } from '../features/configuration/index.ts';
import type { Handler } from '../handler.ts';
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

/** The endpoints by which whoever runs the daemon keeps it in order. */
export function adminHandlers(deps: AdminDeps, { now }: { now: () => number }): Handler[] {
  return [
    ...backupHandlers({
      store: deps.storage.backups,
      files: deps.backupFiles,
      version: deps.process.version,
      now,
    }),
    ...configurationHandlers(deps.reloader),
  ];
}
