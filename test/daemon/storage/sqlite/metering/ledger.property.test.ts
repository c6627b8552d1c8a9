import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../../../../../src/daemon/features/metering/store.ts';
import { createSchema } from '../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { newestSchema } from '../../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { batchRunner, type Operation } from '../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { BatchTotals } from '../../../../../src/daemon/storage/sqlite/metering/batch-totals.ts';
import {
  balanceProblems,
  checkBalances,
} from '../../../../../src/daemon/storage/sqlite/metering/ledger/check-balances.ts';
import { matchesCheckpoint } from '../../../../../src/daemon/storage/sqlite/metering/ledger/checkpoint.ts';
import { holdFormat, settlementRow } from '../../../../../src/daemon/storage/sqlite/metering/rows.ts';
import { UsageTotals } from '../../../../../src/daemon/storage/sqlite/metering/usage/usage-totals.ts';
import { UsageVerification } from '../../../../../src/daemon/storage/sqlite/metering/verify/verify-usage.ts';
import { meteringWrites } from '../../../../../src/daemon/storage/sqlite/metering/writes.ts';
import { aHold, aSettlement } from '../../../../storage/records.ts';

const accounts = ['workspace:a', 'workspace:b', 'provider:x', 'margin'];

// Few ids and few accounts, so that double settlements, unknown holds and transfers to the same account all occur.
const settle = fc.record({
  what: fc.constantFrom('metering.settle', 'metering.settleWithoutHold'),
  id: fc.integer({ min: 0, max: 15 }),
  charged: fc.integer({ min: -1, max: 50 }),
  keyId: fc.constantFrom('key_1', 'key_2', null),
  entries: fc.array(
    fc.record({
      kind: fc.constantFrom<LedgerEntry['kind']>('provider_cost', 'margin'),
      debit: fc.constantFrom(...accounts),
      credit: fc.constantFrom(...accounts),
      amount: fc.integer({ min: -1, max: 1_000_000_000_000 }),
    }),
    { maxLength: 3 },
  ),
});
const hold = fc.record({
  what: fc.constant('metering.hold'),
  id: fc.integer({ min: 0, max: 15 }),
  amount: fc.integer({ min: -1, max: 100 }),
});
const batches = fc.array(fc.array(fc.oneof(settle, hold), { maxLength: 12 }), { maxLength: 5 });

type Step =
  | (typeof settle extends fc.Arbitrary<infer S> ? S : never)
  | (typeof hold extends fc.Arbitrary<infer H> ? H : never);

function operationOf(step: Step): Operation {
  const id = `req_${step.id}`;
  if (!('entries' in step)) return [step.what, holdFormat.row(aHold(id, { amount: step.amount }))];
  const { charged, keyId, entries } = step;
  return [step.what, settlementRow({ ...aSettlement(id, { charged, keyId }), entries })];
}

const empty = new Database(':memory:');
createSchema(empty, newestSchema);
const emptyFile = empty.serialize();
empty.close();

test('after any holds and settlements, balances are the sums of their entries and add up to zero', () => {
  fc.assert(
    fc.property(batches, (steps) => {
      const database = new Database(emptyFile);
      const totals = new BatchTotals(database);
      const run = batchRunner(database, meteringWrites(database, totals), totals);
      let settled = 0;
      for (const batch of steps) {
        const answer = run(batch.map(operationOf));
        if ('failure' in answer) throw new Error(answer.failure.message);
        const failed = new Set(answer.failed.map(({ index }) => index));
        settled += batch.filter((step, index) => 'entries' in step && !failed.has(index)).length;

        expect(balanceProblems(checkBalances(database))).toEqual([]);
      }
      expect(matchesCheckpoint(database)).toBe(true);
      const one = (sql: string) => database.prepare(sql).pluck().get();
      expect(one('SELECT count(*) FROM usage')).toBe(settled);
      expect(one('SELECT coalesce(sum(requests), 0) FROM served_days')).toBe(settled);
      expect(one('SELECT coalesce(max(number), 0) FROM calls')).toBe(settled);
      new UsageTotals(database).fold(settled);
      expect(one('SELECT coalesce(sum(requests), 0) FROM usage_days')).toBe(settled);
      const verifyUsage = () => new UsageVerification(database, { callsOfStep: 3 }).finish();
      expect(verifyUsage()).toMatchObject({
        wrongTotals: [],
        charged: one('SELECT coalesce(sum(charged), 0) FROM calls'),
      });
      if (settled > 0) {
        database.exec('UPDATE calls SET output = output + 1 WHERE number = (SELECT max(number) FROM calls)');
        expect(verifyUsage().wrongTotals).not.toEqual([]);
      }
      expect(one('SELECT coalesce(sum(amount), 0) FROM key_spend')).toBe(
        one('SELECT coalesce(sum(charged), 0) FROM usage WHERE key_id IS NOT NULL'),
      );
      database.close();
    }),
    { numRuns: 100 },
  );
});
