import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import {
  openSqliteStorage,
  type SqliteOptions,
  type SqliteStorage,
} from '../../../../src/daemon/storage/sqlite/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { morning } from '../../../storage/records.ts';
import { addEmptyDatabase } from '../../../support/new-database.ts';

/** A log that keeps its lines for the test. */
export function recordingLog() {
  const lines: { level: string; message: string; details: object }[] = [];
  const at = (level: string) => (details: object, message: string) => {
    lines.push({ level, message, details });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}

/** Opens storages in temporary folders, and closes and deletes them together. */
export function openTemporarily() {
  const opened: Storage[] = [];
  const folders: string[] = [];
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-storage-'));
    folders.push(folder);
    return folder;
  };
  return {
    newFolder,
    open: async (options: Partial<SqliteOptions> = {}): Promise<SqliteStorage> => {
      const folder = newFolder();
      if (options.folder === undefined) addEmptyDatabase(folder);
      const standard = {
        folder,
        now: () => morning,
        log: recordingLog(),
        settledEvent,
      };
      const storage = await openSqliteStorage({ ...standard, ...options });
      opened.push(storage);
      return storage;
    },
    cleanUp: async (): Promise<void> => {
      for (const storage of opened.splice(0)) await storage.close();
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}
