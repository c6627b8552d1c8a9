import { setImmediate } from 'node:timers/promises';
import type { LedgerFindings } from '../../../../features/metering/ledger-store.ts';
import type { Connection } from '../../engine/connection.ts';
import {
  faucetAccount,
  grantsAccount,
  inFlightAccount,
  isInMsat,
  lightningAccount,
  topUpsAccount,
  unitOf,
  walletAccount,
  workspaceAccount,
} from '../ledger/accounts.ts';
import { checkBalances, type EntrySum, sumEntries } from '../ledger/check-balances.ts';
import { type ChainFindings, ChainVerification } from '../ledger/ledger-chain.ts';
import { wrongSpending } from '../limits/spending.ts';
import { type UsageFindings, UsageVerification } from './verify-usage.ts';

/** How many problems of one kind are listed; the rest is counted. */
const listedMax = 20;

/** How much one step reads: some 50 ms. */
const stepSizes = { entries: 20_000, calls: 20_000 };

/**
 * Verifies the whole ledger. Calls, entries and links never change and are read in steps, each with a snapshot of its own, because
 * the write-ahead log grows while a snapshot is held. What was added meanwhile, and all that changes, is read in one snapshot
 * afterwards. Only the main thread knows whether the call of a hold is still running. `onStep` is called after each step.
 */
export async function verifyLedger(
  database: Connection,
  onStep: () => void,
  sizes = stepSizes,
): Promise<LedgerFindings> {
  const chain = new ChainVerification(database, { from: 0, entriesOfStep: sizes.entries });
  const usage = new UsageVerification(database, { callsOfStep: sizes.calls });
  for (const part of [chain, usage]) {
    while (part.step()) {
      onStep();
      await setImmediate();
    }
  }
  return database.transaction(() => findings(database, chain.finish(), usage.finish()))();
}

function findings(database: Connection, chain: ChainFindings, usage: UsageFindings): LedgerFindings {
  const count = (table: string) =>
    database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const ids = (sql: string) => database.prepare<[], string>(sql).pluck().all();
  const sums = chain.sums ?? sumEntries(database);
  const { accounts, wrong, totals } = checkBalances(database, sums);
  const problems = [
    ...sentences(
      wrong,
      ({ account, balance, sum }) =>
        `The balance of ${account} is ${balance} ${unitOf(account)}, but its entries add up to ${sum}.`,
    ),
    ...Object.entries(totals)
      .filter(([, total]) => total !== 0)
      .map(([unit, total]) => `All balances in ${unit} add up to ${total} instead of zero.`),
    ...sentences(usage.wrongCharges, (id) => `The entries of ${id} do not match what the call was charged.`),
    ...sentences(
      ids(entriesWithoutSource(sums, usage.charged)),
      (id) => `The entries of ${id} belong to no call, grant, payment or wallet.`,
    ),
    ...sentences(ids(wrongGrants), (id) => `The ledger entry of grant ${id} is missing or different.`),
    ...sentences(ids(wrongTopUps), (id) => `The ledger entry of payment ${id} is missing or different.`),
    ...sentences(wrongSpending(database), (key) => `The spending of ${key} is not the sum of its calls.`),
    ...sentences(
      usage.wrongBudgets,
      (of) => `The spending of ${of} that budgets count is not the sum of its calls.`,
    ),
    ...sentences(usage.wrongTotals, (group) => `The daily totals of ${group} are not the sum of its calls.`),
    ...sentences(ids(settledHolds), (id) => `Money is still held for ${id}, which was settled.`),
    ...walletProblems(database, sums).flatMap(({ found, sentence }) => sentences(found, sentence)),
    ...chain.problems,
  ];
  const held = ids('SELECT request_id FROM holds');
  const entries = chain.entries ?? count('entries');
  return { accounts, entries, grants: count('credit_grants'), problems, held };
}

function sentences<Found>(found: readonly Found[], sentence: (each: Found) => string): string[] {
  const listed = found.slice(0, listedMax).map(sentence);
  return found.length > listedMax ? [...listed, `And ${found.length - listedMax} more of these.`] : listed;
}

const kindsOfCalls: readonly EntrySum['kind'][] = ['provider_cost', 'margin'];
const ofCalls = `kind IN (${kindsOfCalls.map((kind) => `'${kind}'`).join(', ')})`;

const hasNoSource = [
  'calls WHERE request_id = entries.request_id',
  'credit_grants WHERE id = entries.request_id',
  'payments WHERE id = entries.request_id',
  'invoices WHERE id = entries.request_id',
  'wallet_deposits WHERE id = entries.request_id',
  'payment_challenges WHERE id = entries.request_id AND used_at IS NOT NULL',
]
  .map((source) => `NOT EXISTS (SELECT 1 FROM ${source})`)
  .join(' AND ');

/**
 * Selects the entries that belong to nothing. If those of calls add up to what all calls were charged, and those of each call
 * too, all of them belong to calls, as all amounts are positive.
 */
function entriesWithoutSource(sums: readonly EntrySum[], charged: number): string {
  const isOfCalls = ({ kind }: EntrySum) => kindsOfCalls.includes(kind);
  const booked = sums.filter(isOfCalls).reduce((total, { amount }) => total + amount, 0);
  const select = (where: string) => `SELECT DISTINCT request_id FROM entries WHERE ${where}`;
  if (booked !== charged) return select(hasNoSource);
  // The conditions are evaluated in this order.
  return sums.every(isOfCalls) ? select('FALSE') : select(`NOT ${ofCalls} AND ${hasNoSource}`);
}

const wrongGrants = `
  SELECT id FROM credit_grants WHERE NOT EXISTS (
    SELECT 1 FROM entries WHERE request_id = credit_grants.id AND kind = 'grant' AND debit = '${grantsAccount}'
      AND credit = '${workspaceAccount('')}' || credit_grants.workspace_id AND entries.amount = credit_grants.amount)`;

/** A challenge became credit once, and only if its invoice was paid. */
const wrongTopUps = `
  SELECT c.id FROM payment_challenges c JOIN invoices i ON i.id = c.invoice_id
  WHERE c.used_at IS NOT NULL AND (i.state <> 'paid' OR NOT EXISTS (
    SELECT 1 FROM entries WHERE request_id = c.id AND kind = 'top_up' AND debit = '${topUpsAccount}'
      AND credit = '${workspaceAccount('')}' || c.workspace_id AND entries.amount = c.credit))`;

const settledHolds = 'SELECT request_id FROM holds WHERE request_id IN (SELECT request_id FROM calls)';

interface Problems {
  /** Ids of payments, invoices, entries or accounts. */
  found: string[];
  sentence: (id: string) => string;
}

/** Compares the entries of wallets with their payments, invoices and deposits. */
function walletProblems(database: Connection, sums: readonly EntrySum[]): Problems[] {
  const ids = (sql: string) => database.prepare<[], string>(sql).pluck().all();
  return [
    {
      found: sums.some(({ debit, credit }) => unitOf(debit) !== unitOf(credit)) ? ids(mixedUnits) : [],
      sentence: (id) => `An entry of ${id} moves money between dollars and millisatoshis.`,
    },
    { found: ids(overdrawn), sentence: (account) => `The balance of ${account} is negative.` },
    {
      found: ids(wrongPayments),
      sentence: (id) => `The entries of payment ${id} do not match its state and amount.`,
    },
    {
      found: ids(wrongReceipts),
      sentence: (id) => `The entries of invoice ${id} do not match what it received.`,
    },
    {
      found: ids(wrongDeposits),
      sentence: (id) => `The ledger entry of deposit ${id} is missing or different.`,
    },
  ];
}

const mixedUnits = `
  SELECT DISTINCT request_id FROM entries
  WHERE ${isInMsat('debit')} <> ${isInMsat('credit')}`;

const overdrawn = `
  SELECT id FROM accounts WHERE balance < 0 AND (substr(id, 1, ${walletAccount('').length}) = '${walletAccount('')}' OR id = '${inFlightAccount}')`;

/** What a payment took from its wallet and left in flight, and what a payment within the host gave to the payee. */
const wrongPayments = `
  SELECT id FROM (
    SELECT p.id, p.wallet_id, p.amount, p.fee_limit, p.fee, p.state, i.wallet_id AS payee_wallet,
      (SELECT coalesce(sum(CASE WHEN debit = '${walletAccount('')}' || p.wallet_id THEN amount ELSE -amount END), 0)
        FROM entries WHERE request_id = p.id AND '${walletAccount('')}' || p.wallet_id IN (debit, credit)) AS taken,
      (SELECT coalesce(sum(CASE WHEN credit = '${inFlightAccount}' THEN amount ELSE -amount END), 0)
        FROM entries WHERE request_id = p.id AND '${inFlightAccount}' IN (debit, credit)) AS in_flight,
      (SELECT coalesce(sum(amount), 0) FROM entries WHERE request_id = p.id AND credit = '${lightningAccount}') AS sent,
      (SELECT coalesce(sum(amount), 0) FROM entries
        WHERE request_id = p.id AND kind = 'payment' AND credit = '${walletAccount('')}' || i.wallet_id) AS given
    FROM payments p LEFT JOIN invoices i
      ON p.state = 'succeeded' AND p.backend = 'embedded' AND i.payment_hash = p.payment_hash) AS moved
  WHERE taken <> CASE
      WHEN state = 'failed' OR payee_wallet = wallet_id THEN 0
      WHEN state = 'pending' THEN amount + fee_limit
      WHEN fee < fee_limit THEN amount + fee
      ELSE amount + fee_limit END
    OR in_flight <> CASE WHEN state = 'pending' THEN amount + fee_limit ELSE 0 END
    OR sent <> CASE WHEN state = 'succeeded' AND payee_wallet IS NULL THEN amount + fee ELSE 0 END
    OR given <> CASE WHEN payee_wallet IS NULL OR payee_wallet = wallet_id THEN 0 ELSE amount END`;

/** An invoice was paid by exactly one payment within the host, or over Lightning. The index of hashes is of payments that did not fail. */
const wrongReceipts = `
  SELECT id FROM invoices i WHERE coalesce(received, 0) <>
    (SELECT coalesce(sum(amount), 0) FROM entries WHERE request_id = i.id AND kind = 'receipt'
      AND credit = '${walletAccount('')}' || i.wallet_id)
    + (SELECT coalesce(sum(amount), 0) FROM payments
      WHERE payment_hash = i.payment_hash AND state <> 'failed' AND state = 'succeeded' AND backend = 'embedded')`;

const wrongDeposits = `
  SELECT id FROM wallet_deposits d WHERE NOT EXISTS (
    SELECT 1 FROM entries WHERE request_id = d.id AND kind = 'deposit'
      AND debit = CASE d.source WHEN 'faucet' THEN '${faucetAccount}' ELSE '${lightningAccount}' END
      AND credit = '${walletAccount('')}' || d.wallet_id AND entries.amount = d.amount)`;
