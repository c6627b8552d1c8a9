import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type Connection,
  openForReading,
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
import { aSettlement, morning } from '../../../../../storage/records.ts';
import { openTemporarily, recordingLog } from '../../temporary.ts';

const { newFolder, cleanUp } = openTemporarily();
let writer: Connection;
let reader: Connection;
let settled: number;
let settle: (count: number) => void;

beforeEach(() => {
  const file = join(newFolder(), 'gateway.db');
  prepareDatabase({ file, now: () => morning, log: recordingLog(), migrations }).close();
  writer = openForWriting(file);
  reader = openForReading(file);
  const totals = new BatchTotals(writer);
  const run = batchRunner(writer, meteringWrites(writer, totals), totals);
  settled = 0;
  settle = (count) => {
    const ids = Array.from({ length: count }, (_, index) => `req_${settled + index + 1}`);
    settled += count;
    run(
      ids.map((id) => [
        'metering.settleWithoutHold',
        settlementRow(aSettlement(id, { labels: { ...noLabels, client: 'curl/8.9', tags: { team: 'a' } } })),
      ]),
    );
  };
  // More calls than are folded together, and some that are not folded.
  for (let batch = 0; batch < 7; batch += 1) settle(100);
});

afterEach(() => {
  writer.close();
  reader.close();
  cleanUp();
});

/** Verifies in small steps; `afterStep` gets the number of each step. */
async function verify(afterStep: (step: number) => void) {
  let steps = 0;
  const onStep = () => {
    steps += 1;
    afterStep(steps);
  };
  const findings = await verifyLedger(reader, onStep, { entries: 300, calls: 100 });
  return { ...findings, steps };
}

test('a verification includes the calls that end during it', async () => {
  const { problems, entries, steps } = await verify((step) => {
    if (step <= 10) settle(60);
  });
  expect(steps).toBeGreaterThanOrEqual(10);
  expect(settled).toBe(1300);
  expect(problems).toEqual([]);
  expect(entries).toBe(writer.prepare('SELECT count(*) FROM entries').pluck().get());
});

test('between its steps the write-ahead log can be emptied', async () => {
  const { steps } = await verify(() => {
    settle(1);
    expect(writer.pragma('wal_checkpoint(TRUNCATE)')).toMatchObject([{ busy: 0, log: 0 }]);
  });
  expect(steps).toBeGreaterThan(5);
});

test.each([
  ['the totals of a day', 'UPDATE usage_days SET output = output + 1', /^The daily totals of all keys on /],
  [
    'a balance',
    "UPDATE accounts SET balance = balance + 1 WHERE id = 'margin'",
    /^The balance of margin is /,
  ],
  [
    'an additional entry among verified ones',
    "INSERT INTO entries VALUES ('req_1', 'grant', 'a', 'b', 1, 1)",
    /^The ledger has \d+ entries, but its chain has \d+\.$/,
  ],
])('%s changed during a verification is found', async (_what, sql, problem) => {
  const { problems } = await verify((step) => {
    if (step === 3) writer.exec(sql);
  });
  expect(problems).toContainEqual(expect.stringMatching(problem));
});

test('a call that was charged something else is found in any step', async () => {
  writer.exec("UPDATE calls SET charged = charged + 1 WHERE request_id IN ('req_150', 'req_690')");
  const { problems } = await verify(() => {});
  for (const id of ['req_150', 'req_690'])
    expect(problems).toContain(`The entries of ${id} do not match what the call was charged.`);
});

test.each([
  ['of a key and day', 'UPDATE usage_key_days SET output = output + 1', 'key_1 on 2026-11-21'],
  [
    'of a key, day and model',
    'UPDATE usage_keys SET charged = charged + 1 WHERE days = 1 AND model > 0',
    'key_1 on 2026-11-21',
  ],
  [
    'of a key in many days',
    'UPDATE usage_keys SET requests = requests + 1 WHERE days = 32',
    'key_1 in the 32 days from 2026-11-11',
  ],
  ['of a key, which are missing', 'DELETE FROM usage_keys WHERE days = 1', 'key_1 on 2026-11-21'],
  [
    'of a key that never made a call',
    'INSERT INTO usage_keys SELECT workspace, model, days, start, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM usage_keys LIMIT 1',
    'logins on 2026-11-21',
  ],
  ['of a quarter of an hour', 'UPDATE usage_slots SET output = output + 1', 'all keys at 2026-11-21 08:00'],
  ['of a key in it', 'UPDATE usage_key_slots SET input = input + 1', 'key_1 at 2026-11-21 08:00'],
  ['of a quarter, which are missing', 'DELETE FROM usage_slots', 'all keys at 2026-11-21 08:00'],
  ['of latency by hour', 'UPDATE latency_hours SET calls = calls + 1', 'the latency at 2026-11-21 08:00'],
  ['of latency by day', 'UPDATE latency_days SET bucket = bucket + 1', 'the latency on 2026-11-21'],
  ['of labels', 'DELETE FROM usage_label_days', 'labels on 2026-11-21'],
])('wrong totals %s are found', async (_what, sql, name) => {
  writer.exec(sql);
  const { problems } = await verify(() => {});
  expect(problems.join('\n')).toContain(`The daily totals of ${name} are not the sum of its calls.`);
});

test('spending of a tag with a budget that moved to another tag is found', async () => {
  const budget = "'team', 'tag', 'team=a', 'day', 1, 1, '[]', 0, 0, '[]'";
  writer.exec(`INSERT INTO budgets VALUES ('ws_1', ${budget}, NULL)`);
  const found = async () => (await verify((step) => step <= 2 && settle(20))).problems;
  expect(await found()).toEqual([]);
  writer.exec('UPDATE usage_label_days SET value = value + 1000 WHERE kind = 7');
  expect(await found()).toEqual([
    'The spending of the tag team=a in ws_1 that budgets count is not the sum of its calls.',
  ]);
});

test('wrong totals that compensate for each other are found', async () => {
  // Moves a cent from one day to the next, and back with another model: the sums of each day and of each model stay.
  const zeros = 'requests, unpriced, input, cached_input, cache_write, output, reasoning, cost_provider';
  const add = (day: number, model: number, amount: number) =>
    writer.exec(
      `INSERT INTO usage_key_days (workspace, key, day, model, provider, status, ${zeros}, cost_margin, charged)
       SELECT workspace, key, day + ${day}, model + ${model}, provider, 99, ${zeros.replaceAll(/\w+/g, '0')}, ${amount}, 0
       FROM usage_key_days WHERE requests > 0`,
    );
  for (const [day, model] of [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
  ] as const)
    add(day, model, day === model ? 10 : -10);
  const { problems } = await verify(() => {});
  expect(problems.filter((problem) => problem.includes('The daily totals of key_1 on'))).toHaveLength(2);
});
