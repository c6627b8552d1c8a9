import type { LedgerFindings } from '../../../features/metering/ledger-store.ts';
import type { Connection } from '../engine/connection.ts';
import { accountOf, grantsAccount } from './accounts.ts';
import { verifyChain } from './chain.ts';

/** How many of one kind of fault are named; the rest is counted. */
const namedMax = 20;

/** Adds up the books in one snapshot. Whether a hold has a running call only the daemon's other thread can tell. */
export function verifyLedger(database: Connection): LedgerFindings {
  return database.transaction(() => {
    const one = (sql: string) => database.prepare<[], number>(sql).pluck().get() ?? 0;
    const names = (sql: string) => database.prepare<[], string>(sql).pluck().all();
    const total = one('SELECT coalesce(sum(balance), 0) FROM accounts');
    const problems = [
      ...wrongBalances(database),
      ...(total === 0 ? [] : [`All balances together are ${total} nano-dollars, not zero.`]),
      ...named(
        names(chargesWithoutEntries),
        (id) => `The entries of ${id} are not what the call was charged.`,
      ),
      ...named(names(entriesWithoutCause), (id) => `The entries of ${id} belong to no call and no grant.`),
      ...named(names(wrongGrants), (id) => `The grant ${id} is not in the ledger as it was given.`),
      ...named(names(wrongSpends), (what) => `The spending of ${what} is not the sum of its calls.`),
      ...named(names(heldAndSettled), (id) => `Money is still held for ${id}, which was settled.`),
      ...verifyChain(database, { from: 0 }).problems,
    ];
    return {
      accounts: one('SELECT count(*) FROM accounts'),
      entries: one('SELECT count(*) FROM entries'),
      grants: one('SELECT count(*) FROM credit_grants'),
      total,
      problems,
      held: names('SELECT request_id FROM holds'),
    };
  })();
}

function named(found: readonly string[], sentence: (name: string) => string): string[] {
  const sentences = found.slice(0, namedMax).map(sentence);
  return found.length > namedMax
    ? [...sentences, `And ${found.length - namedMax} more of these.`]
    : sentences;
}

function wrongBalances(database: Connection): string[] {
  const rows = database
    .prepare<[], { id: string; balance: number | null; moved: number }>(
      `WITH moves (id, amount) AS (
         SELECT credit, sum(amount) FROM entries GROUP BY credit
         UNION ALL SELECT debit, -sum(amount) FROM entries GROUP BY debit
       ), sums (id, moved) AS (SELECT id, sum(amount) FROM moves GROUP BY id)
       SELECT coalesce(accounts.id, sums.id) AS id, accounts.balance, coalesce(sums.moved, 0) AS moved
       FROM accounts FULL JOIN sums ON sums.id = accounts.id
       WHERE coalesce(accounts.balance, 0) <> coalesce(sums.moved, 0) ORDER BY 1`,
    )
    .all();
  return named(
    rows.map(
      ({ id, balance, moved }) => `${id} is ${balance ?? 0} nano-dollars, and its entries come to ${moved}`,
    ),
    (fault) => `The balance of ${fault}.`,
  );
}

const chargesWithoutEntries = `
  SELECT request_id FROM (
    SELECT request_id, charged AS amount FROM usage WHERE charged > 0
    UNION ALL SELECT request_id, -amount FROM entries WHERE kind <> 'grant'
  ) WHERE request_id IN (SELECT request_id FROM usage) GROUP BY request_id HAVING sum(amount) <> 0`;

const entriesWithoutCause = `
  SELECT DISTINCT request_id FROM entries
  WHERE request_id NOT IN (SELECT request_id FROM usage) AND request_id NOT IN (SELECT id FROM credit_grants)`;

const wrongGrants = `
  SELECT id FROM credit_grants WHERE NOT EXISTS (
    SELECT 1 FROM entries WHERE request_id = credit_grants.id AND kind = 'grant' AND debit = '${grantsAccount}'
      AND credit = '${accountOf('')}' || credit_grants.workspace_id AND entries.amount = credit_grants.amount)`;

const wrongSpends = `
  SELECT key_id || ' on ' || day FROM (
    SELECT key_id, date(completed_at / 1000, 'unixepoch') AS day, charged AS amount FROM usage
      WHERE key_id IS NOT NULL
    UNION ALL SELECT key_id, day, -amount FROM key_spend
  ) GROUP BY key_id, day HAVING sum(amount) <> 0 ORDER BY 1`;

const heldAndSettled = 'SELECT request_id FROM holds WHERE request_id IN (SELECT request_id FROM usage)';
