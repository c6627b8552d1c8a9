import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { settledEvent } from '../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { recordingLog } from '../daemon/storage/sqlite/temporary.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { morning, type OpenStorage } from './records.ts';

/** Runs tests of stores on PostgreSQL, each with a database of its own. */
export function onPostgres(contracts: readonly ((open: OpenStorage) => void)[]): void {
  const opened: Storage[] = [];
  const folders: string[] = [];
  const folder = () => {
    const path = mkdtempSync(join(tmpdir(), 'gateway-data-'));
    folders.push(path);
    return path;
  };
  const open: OpenStorage = async () => {
    const url = await newPostgresDatabase();
    const storage = await openPostgresStorage({
      url,
      folder: folder(),
      now: () => morning,
      log: recordingLog(),
      settledEvent,
    });
    opened.push(storage);
    return storage;
  };
  open.isSlow = true;
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close();
    for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
  });
  for (const contract of contracts) contract(open);
}
