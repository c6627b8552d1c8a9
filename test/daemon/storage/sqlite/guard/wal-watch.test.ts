import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { Reader } from '../../../../../src/daemon/storage/sqlite/engine/reader.ts';
import { watchWal } from '../../../../../src/daemon/storage/sqlite/guard/wal-watch.ts';
import type { LongReads } from '../../../../../src/daemon/storage/sqlite/long-reads.ts';
import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { startThread } from '../../../../../src/daemon/storage/sqlite/start-thread.ts';
import { morning } from '../../../../storage/records.ts';
import { openTemporarily, recordingLog } from '../temporary.ts';

const { newFolder, cleanUp } = openTemporarily();
afterEach(cleanUp);

test('a growing write-ahead log is logged once, and aborts long reads before it fills the disk', async () => {
  const file = join(newFolder(), 'gateway.db');
  writeFileSync(`${file}-wal`, '');
  const log = recordingLog();
  const ended: number[] = [];
  const abortReads = (olderThanMs: number) => ended.push(olderThanMs) > 0;
  const watch = watchWal({ file, log, abortReads, bounds: { warnBytes: 1000, abortBytes: 5000 } });
  onTestFinished(watch.stop);
  const logged = async (bytes: number) => {
    const before = log.lines.length;
    truncateSync(`${file}-wal`, bytes);
    await watch.check();
    return log.lines.slice(before).map(({ message }) => message.split(' ').slice(-3).join(' '));
  };

  expect(await logged(1000)).toEqual([]);
  expect(await logged(1001)).toEqual(['an old snapshot']);
  expect(await logged(5000)).toEqual([]);
  expect(ended).toEqual([]);
  expect(await logged(5001)).toEqual(['can be reset']);
  expect(ended).toEqual([5000]);
  expect(await logged(900)).toEqual([]);
  expect(await logged(2000)).toEqual(['an old snapshot']);
});

test('an aborted read fails with a retryable error, and the next one succeeds', async () => {
  const file = join(newFolder(), 'gateway.db');
  prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations }).close();
  const database = new Database(file);
  database.exec(`
    ALTER TABLE served_days RENAME TO few;
    CREATE VIEW served_days AS
      WITH RECURSIVE many (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM many LIMIT 2000000)
      SELECT max(n) AS day, 'key' AS caller, 0 AS own_key, 'paid' AS tier, 1 AS requests, 0 AS input_tokens,
        0 AS output_tokens FROM many`);
  database.close();
  const reader = new Reader<LongReads>(() => startThread('reader-worker', { file, hasLowPriority: false }));
  onTestFinished(() => reader.close());

  expect(reader.abortOlderThan(0)).toBe(false);
  const long = reader.run('served');
  expect(reader.abortOlderThan(60_000)).toBe(false);
  expect(reader.abortOlderThan(-1)).toBe(true);
  await expect(long).rejects.toMatchObject({ code: 'unavailable' });
  expect(await reader.run('verify')).toMatchObject({ problems: [] });
});
