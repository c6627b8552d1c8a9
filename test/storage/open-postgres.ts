import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { settledEvent } from '../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { recordingLog } from '../daemon/storage/sqlite/temporary.ts';
import { newPostgresDatabase } from '../support/postgres.ts';
import { emptyDatabase, prepareEmptying } from './empty-database.ts';
import { morning, type OpenStorage } from './records.ts';

interface Opened {
  storage: Storage;
  folder: string;
  url: string;
}

/** Beyond that many pages of deleted rows in a table, the next test gets a new database, as its plans would differ. */
const pagesMax = 100;

/**
 * Runs tests of stores on PostgreSQL. Opening a storage takes ten times as long as most tests, so that they use one, which is
 * emptied after each of them. A test that opens another one, or one of its own, has that to itself.
 */
export function onPostgres(contracts: readonly ((open: OpenStorage) => void)[]): void {
  const opened: Opened[] = [];
  let shared: Opened | undefined;
  /** Whether the running test uses it. */
  let isUsed = false;

  const openNew = async (): Promise<Opened> => {
    const url = await newPostgresDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'gateway-data-'));
    const storage = await openPostgresStorage({
      url,
      folder,
      now: () => morning,
      log: recordingLog(),
      settledEvent,
    });
    return { storage, folder, url };
  };
  const open: OpenStorage = async ({ isOwn = false } = {}) => {
    if (isOwn || isUsed) {
      const own = await openNew();
      opened.push(own);
      return own.storage;
    }
    isUsed = true;
    if (!shared) {
      shared = await openNew();
      await prepareEmptying(shared.url);
    }
    return shared.storage;
  };
  open.isSlow = true;

  const close = async ({ storage, folder }: Opened) => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const closeShared = async () => {
    const closing = shared;
    shared = undefined;
    if (closing) await close(closing);
  };
  afterEach(async ({ task }) => {
    for (const each of opened.splice(0)) await close(each);
    if (!isUsed || !shared) return;
    isUsed = false;
    // A test that failed may have left anything.
    const isKept = task.result?.state !== 'fail' && (await emptyDatabase(shared.url)) <= pagesMax;
    if (!isKept) await closeShared();
  });
  afterAll(closeShared);
  for (const contract of contracts) contract(open);
}
