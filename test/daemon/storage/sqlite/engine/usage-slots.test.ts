import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Connection,
  openForWriting,
} from '../../../../../src/daemon/storage/sqlite/engine/connection.ts';
import { migrate } from '../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { usageSlots } from '../../../../../src/daemon/storage/sqlite/engine/migrations/0045-usage-slots.ts';
import { labelSlots } from '../../../../../src/daemon/storage/sqlite/engine/migrations/0054-label-slots.ts';
import { untaggedCalls } from '../../../../../src/daemon/storage/sqlite/engine/migrations/0067-untagged-calls.ts';
import { migrations } from '../../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import { batchRunner } from '../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { BatchTotals } from '../../../../../src/daemon/storage/sqlite/metering/batch-totals.ts';
import { settlementRow } from '../../../../../src/daemon/storage/sqlite/metering/rows.ts';
import { verifyLedger } from '../../../../../src/daemon/storage/sqlite/metering/verify/verify-ledger.ts';
import { meteringWrites } from '../../../../../src/daemon/storage/sqlite/metering/writes.ts';
import { prepareDatabase } from '../../../../../src/daemon/storage/sqlite/prepare-database.ts';
import { aSettlement, dayMs, morning } from '../../../../storage/records.ts';
import { openTemporarily, recordingLog } from '../temporary.ts';

const { newFolder, cleanUp } = openTemporarily();
let database: Connection;
const added = ['usage_slots', 'usage_key_slots', 'usage_label_days', 'latency_hours', 'latency_days'];
const addedLater = ['usage_label_slots', 'attempt_slots'];

beforeEach(() => {
  const file = join(newFolder(), 'gateway.db');
  prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations }).close();
  database = openForWriting(file);
  const totals = new BatchTotals(database);
  const run = batchRunner(database, meteringWrites(database, totals), totals);
  const calls = Array.from({ length: 1200 }, (_, index) =>
    aSettlement(`req_${index}`, {
      completedAt: morning + Math.floor(index / 400) * dayMs,
      errorCode: index % 10 === 0 ? 'server_error' : null,
      totalMs: index % 7 === 0 ? 5_000 : 40,
    }),
  );
  for (const part of [calls.slice(0, 600), calls.slice(600)])
    run(part.map((call) => ['metering.settleWithoutHold', settlementRow(call)]));
  totals.close();
});
afterEach(() => {
  database.close();
  cleanUp();
});

const firstDay = Math.floor(morning / dayMs);
const rowsOf = (table: string) => database.prepare(`SELECT * FROM ${table}`).raw().all();
const meta = () => database.prepare("SELECT value FROM meta WHERE name = 'totals_from'").pluck().get();

/** Takes back what the later migration did. */
function undoLabelSlots(): void {
  for (const table of [...addedLater, 'pruned_slots']) database.exec(`DROP TABLE ${table}`);
  database.exec("DELETE FROM usage_label_days WHERE kind = 10; DELETE FROM meta WHERE name = 'slots_from'");
  database.pragma('user_version = 53');
}

/** Takes back what both migrations did. */
function undo(): void {
  undoLabelSlots();
  for (const table of added) database.exec(`DROP TABLE ${table}`);
  database.exec("DELETE FROM call_index WHERE kind > 4; DELETE FROM meta WHERE name = 'totals_from'");
  database.pragma('user_version = 44');
}

test('an upgrade adds the totals and the index that calls had from the start', async () => {
  const before = [...added, ...addedLater, 'call_index'].map(rowsOf);
  undo();
  migrate(database, [usageSlots, labelSlots, untaggedCalls]);
  expect([...added, ...addedLater, 'call_index'].map(rowsOf)).toEqual(before);
  expect(meta()).toBe(0);
  expect((await verifyLedger(database, () => {})).problems).toEqual([]);
});

test('the totals begin with the first day of which all calls are added up', async () => {
  undo();
  // As if a call of the second day was among the older ones, which are not read.
  database.exec(`UPDATE usage_days SET requests = requests + 1 WHERE day = ${firstDay + 1}`);
  migrate(database, [usageSlots]);
  const third = (firstDay + 2) * dayMs;
  expect(meta()).toBe(third);
  const slots = database.prepare('SELECT min(slot) * 900000 FROM usage_slots').pluck().get();
  expect(slots).toBeGreaterThanOrEqual(third);
});
