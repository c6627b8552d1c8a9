import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Connection,
  openForWriting,
} from '../../../../../../src/daemon/storage/sqlite/engine/connection.ts';
import { migrations } from '../../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { batchRunner } from '../../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { BatchTotals } from '../../../../../../src/daemon/storage/sqlite/metering/batch-totals.ts';
import { settlementRow } from '../../../../../../src/daemon/storage/sqlite/metering/rows.ts';
import { verifyLedger } from '../../../../../../src/daemon/storage/sqlite/metering/verify/verify-ledger.ts';
import { meteringWrites } from '../../../../../../src/daemon/storage/sqlite/metering/writes.ts';
import { prepareDatabase } from '../../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { noLabels } from '../../../../../../src/shared/constants/call-labels.ts';
import { aSettlement, dayMs, morning } from '../../../../../storage/records.ts';
import { openTemporarily, recordingLog } from '../../temporary.ts';

const { newFolder, cleanUp } = openTemporarily();
let database: Connection;

beforeEach(() => {
  const file = join(newFolder(), 'gateway.db');
  prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations });
  database = openForWriting(file);
});
afterEach(() => {
  database.close();
  cleanUp();
});

const callsPerDay = 600;

function settleDays(days: number): void {
  const totals = new BatchTotals(database);
  const run = batchRunner(database, meteringWrites(database, totals), totals);
  for (let day = 0; day < days; day += 1) {
    const calls = Array.from({ length: callsPerDay }, (_, index) =>
      aSettlement(`req_${day}_${index}`, {
        keyId: `key_${index % 40}`,
        completedAt: morning + day * dayMs + index * 1_000,
        errorCode: index % 10 === 0 ? 'server_error' : null,
        labels: { ...noLabels, client: `client/${index % 3}`, user: `user-${index % 50}` },
      }),
    );
    run(calls.map((call) => ['metering.settleWithoutHold', settlementRow(call)]));
  }
  totals.close();
}

test('totals by quarter of an hour of keys and labels, and of attempts, are deleted after 35 days; others stay', async () => {
  const days = 45;
  settleDays(days);
  const firstDay = Math.floor(morning / dayMs);
  const daysOf = (table: string, perDay: number) =>
    database.prepare<[], number>(`SELECT DISTINCT slot / ${perDay} FROM ${table} ORDER BY 1`).pluck().all();
  const kept = Array.from({ length: 36 }, (_, index) => firstDay + days - 36 + index);
  expect(daysOf('usage_key_slots', 96)).toEqual(kept);
  expect(daysOf('usage_label_slots', 96)).toEqual(kept);
  expect(daysOf('attempt_slots', 48)).toEqual(kept);
  expect(daysOf('usage_slots', 96)).toHaveLength(days);
  expect((await verifyLedger(database, () => {})).problems).toEqual([]);
});

test('a workspace that called nothing for long is pruned in steps', async () => {
  settleDays(2);
  const totals = new BatchTotals(database);
  const run = batchRunner(database, meteringWrites(database, totals), totals);
  const later = (from: number) =>
    Array.from({ length: 512 }, (_, index) =>
      aSettlement(`req_late_${from + index}`, { completedAt: morning + 100 * dayMs + from + index }),
    );
  for (const from of [0, 512, 1024])
    run(later(from).map((call) => ['metering.settleWithoutHold', settlementRow(call)]));
  totals.close();
  const oldest = database.prepare<[], number>('SELECT min(slot) / 96 FROM usage_key_slots').pluck().get();
  expect(oldest).toBe(Math.floor(morning / dayMs) + 100);
  expect((await verifyLedger(database, () => {})).problems).toEqual([]);
});
