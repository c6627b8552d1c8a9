import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStorage, type SqliteOptions } from '../../../../src/daemon/storage/sqlite/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { morning } from '../../../storage/records.ts';

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'gateway-storage-'));
}

/** Keeps what was logged, so that a test can look at it. */
export function recordingLog() {
  const lines: { level: string; message: string; details: object }[] = [];
  const at = (level: string) => (details: object, message: string) => {
    lines.push({ level, message, details });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}

/** Opens storages in folders of their own, and closes and deletes them all at once. */
export function openTemporarily() {
  const opened: { storage: Storage; folder: string }[] = [];
  return {
    open: async (options: Partial<SqliteOptions> = {}): Promise<Storage> => {
      const folder = options.folder ?? temporaryFolder();
      const storage = await openSqliteStorage({
        folder,
        now: () => morning,
        log: recordingLog(),
        ...options,
      });
      opened.push({ storage, folder });
      return storage;
    },
    cleanUp: async (): Promise<void> => {
      for (const { storage, folder } of opened.splice(0)) {
        await storage.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
