import Database from 'better-sqlite3';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Connection } from '../../../../../../src/daemon/storage/sqlite/engine/connection.ts';
import { createSchema } from '../../../../../../src/daemon/storage/sqlite/engine/migrate.ts';
import { newestSchema } from '../../../../../../src/daemon/storage/sqlite/engine/migrations/newest-schema.ts';
import { batchRunner } from '../../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { BatchTotals } from '../../../../../../src/daemon/storage/sqlite/metering/batch-totals.ts';
import {
  balanceProblems,
  checkBalances,
  type EntrySum,
  sumEntries,
} from '../../../../../../src/daemon/storage/sqlite/metering/ledger/check-balances.ts';
import { matchesCheckpoint } from '../../../../../../src/daemon/storage/sqlite/metering/ledger/checkpoint.ts';
import { verifyChain } from '../../../../../../src/daemon/storage/sqlite/metering/ledger/ledger-chain.ts';
import { settlementRow } from '../../../../../../src/daemon/storage/sqlite/metering/rows.ts';
import { meteringWrites } from '../../../../../../src/daemon/storage/sqlite/metering/writes.ts';
import { aSettlement } from '../../../../../storage/records.ts';

let database: Connection;
let settle: (...ids: string[]) => void;

/** Continues the chain, like a restarted daemon. */
function open(): void {
  const totals = new BatchTotals(database);
  const run = batchRunner(database, meteringWrites(database, totals), totals);
  settle = (...ids) => {
    run(ids.map((id) => ['metering.settleWithoutHold', settlementRow(aSettlement(id, { charged: 7 }))]));
  };
}

const verify = (from = 0) => verifyChain(database, { from });
const links = () => database.prepare('SELECT count(*) FROM ledger_chain').pluck().get();

/** Runs SQL without the triggers that prevent changes. */
function tamper(sql: string): void {
  for (const name of ['entries_stay', 'entries_last', 'ledger_chain_stays', 'ledger_chain_lasts']) {
    database.exec(`DROP TRIGGER IF EXISTS ${name}`);
  }
  database.exec(sql);
}

beforeEach(() => {
  database = new Database(':memory:');
  createSchema(database, newestSchema);
  open();
  settle('req_1', 'req_2');
  settle('req_3');
  open();
  settle('req_4');
});

test('each commit with entries adds a link, and one without adds none', () => {
  expect(links()).toBe(4);
  settle('req_4');
  expect(links()).toBe(4);
  settle('req_4', 'req_5');
  expect(verify()).toMatchObject({ problems: [], last: 4 });
  expect(links()).toBe(5);
});

test('the sums of the compared entries are those of the ledger', () => {
  const ids = Array.from({ length: 3_000 }, (_, index) => `req_${(index * 7) % 3_000}_many`);
  // Links whose entries lie among those of others, as of calls that end in another order than they began in.
  for (let at = 0; at < ids.length; at += 30) settle(...ids.slice(at, at + 30));
  const { problems, sums } = verify();
  const inOrder = (all: readonly EntrySum[] | undefined) =>
    all?.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
  expect(problems).toEqual([]);
  const expected = database
    .prepare<[], EntrySum>(
      'SELECT kind, debit, credit, sum(amount) AS amount FROM entries GROUP BY kind, debit, credit',
    )
    .all();
  expect(inOrder(sums)).toEqual(inOrder(expected));
  expect(inOrder(sumEntries(database))).toEqual(inOrder(expected));
  expect(inOrder(sumEntries(database, 100))).toEqual(inOrder(expected));
  tamper("UPDATE entries SET amount = amount + 1 WHERE request_id = 'req_1500_many' AND kind = 'margin'");
  expect(verify()).toMatchObject({
    problems: ['The margin entry of req_1500_many was changed or deleted.'],
    sums: undefined,
  });
});

test('a text that JSON escapes is compared, too', () => {
  settle('req_"é\\');
  expect(verify().problems).toEqual([]);
  tamper("UPDATE entries SET created_at = 5 WHERE request_id = 'req_1'");
  expect(verify().problems).not.toEqual([]);
});

test('neither links nor entries can be changed or deleted', () => {
  for (const table of ['ledger_chain', 'entries']) {
    expect(() => database.exec(`DELETE FROM ${table}`)).toThrow('never deleted');
  }
  expect(() => database.exec('UPDATE ledger_chain SET total = 0')).toThrow('never changed');
});

describe('a change that keeps all balances right is found:', () => {
  const entryOf = (id: string) => `The provider_cost entry of ${id} was changed or deleted.`;

  test.each([
    [
      'the time of an entry',
      "UPDATE entries SET created_at = 5 WHERE request_id = 'req_2'",
      entryOf('req_2'),
    ],
    [
      'an amount moved from one call to another',
      `UPDATE entries SET amount = amount + 1 WHERE request_id = 'req_1' AND kind = 'provider_cost';
       UPDATE entries SET amount = amount - 1 WHERE request_id = 'req_3' AND kind = 'provider_cost'`,
      entryOf('req_1'),
    ],
    [
      'a deleted entry with adjusted balances',
      `UPDATE accounts SET balance = balance + (SELECT sum(amount) FROM entries WHERE request_id = 'req_3'
         AND debit = accounts.id) WHERE id IN (SELECT debit FROM entries WHERE request_id = 'req_3');
       UPDATE accounts SET balance = balance - (SELECT sum(amount) FROM entries WHERE request_id = 'req_3'
         AND credit = accounts.id) WHERE id IN (SELECT credit FROM entries WHERE request_id = 'req_3');
       DELETE FROM entries WHERE request_id = 'req_3'`,
      entryOf('req_3'),
    ],
    [
      'an entry changed together with its copy',
      `UPDATE entries SET created_at = 5 WHERE request_id = 'req_3';
       UPDATE ledger_chain SET entries = json_set(entries, '$[0][5]', 5) WHERE number = 2`,
      'Link 2 of the ledger chain was changed.',
    ],
    [
      'a link that is no JSON any more',
      'UPDATE ledger_chain SET entries = substr(entries, 2) WHERE number = 2',
      'Link 2 of the ledger chain was changed.',
    ],
    ['a deleted link', 'DELETE FROM ledger_chain WHERE number = 2', 'Link 2 of the ledger chain is missing.'],
  ])('%s', (_what, sql, problem) => {
    tamper(sql);
    expect(balanceProblems(checkBalances(database))).toEqual([]);
    expect(verify().problems).toContain(problem);
  });
});

test('a checkpoint of the balances follows the chain, so that a start reads few links', () => {
  const checkpoint = () =>
    database.prepare<[], number>("SELECT value FROM meta WHERE name = 'checkpoint_link'").pluck().get() ?? 0;
  expect(checkpoint()).toBe(0);
  for (let batch = 0; batch < 24; batch += 1) {
    settle(...Array.from({ length: 500 }, (_, index) => `req_${batch}_${index}`));
    expect(matchesCheckpoint(database)).toBe(true);
  }
  expect(checkpoint()).toBeGreaterThan(20);
  database.exec("UPDATE accounts SET balance = balance + 1 WHERE id = 'margin'");
  expect(matchesCheckpoint(database)).toBe(false);
  database.exec("UPDATE accounts SET balance = balance - 1 WHERE id = 'margin'");
  tamper("UPDATE ledger_chain SET entries = replace(entries, 'margin', 'profit') WHERE number = 27");
  expect(matchesCheckpoint(database)).toBe(false);
});

test('an additional entry, and the newest link without its entries, are found by their number', () => {
  database.exec("INSERT INTO entries VALUES ('req_9', 'margin', 'a', 'b', 1, 1)");
  expect(verify().problems).toEqual([
    expect.stringMatching(/^The ledger has \d+ entries, but its chain has \d+\.$/),
  ]);
});

test('a verification can start where an earlier one ended', () => {
  const { last } = verify();
  tamper("UPDATE entries SET created_at = 5 WHERE request_id = 'req_1'");
  settle('req_5');
  expect(verify(last)).toMatchObject({ problems: [], last: 4 });
  expect(verify().problems).not.toEqual([]);
  expect(verify(9).problems).toEqual(['The ledger chain has no link 9.']);
});

test('entries older than the chain are only counted', () => {
  database = new Database(':memory:');
  createSchema(database, newestSchema);
  // As in a database that had an entry when the chain was introduced.
  database.exec(`INSERT INTO entries VALUES ('req_0', 'margin', 'a', 'b', 1, 1);
    DROP TRIGGER ledger_chain_stays; UPDATE ledger_chain SET total = 1; DROP TRIGGER ledger_chain_lasts`);
  open();
  settle('req_1');
  expect(verify()).toMatchObject({ problems: [], last: 1 });
  tamper("DELETE FROM entries WHERE request_id = 'req_0'");
  expect(verify().problems).toHaveLength(1);
});
