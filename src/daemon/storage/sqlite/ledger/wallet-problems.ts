import type { Connection } from '../engine/connection.ts';
import {
  faucetAccount,
  inFlightAccount,
  lightningAccount,
  msatPrefix,
  unitOf,
  walletAccount,
} from './accounts.ts';
import type { EntrySum } from './check-balances.ts';

interface Problems {
  /** Ids of payments, invoices, entries or accounts. */
  found: string[];
  sentence: (id: string) => string;
}

/** Compares the entries of wallets with their payments, invoices and deposits. */
export function walletProblems(database: Connection, sums: readonly EntrySum[]): Problems[] {
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
  WHERE debit GLOB '${msatPrefix}*' <> credit GLOB '${msatPrefix}*'`;

const overdrawn = `
  SELECT id FROM accounts WHERE balance < 0 AND (id GLOB '${walletAccount('*')}' OR id = '${inFlightAccount}')`;

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
      ON p.state = 'succeeded' AND p.backend = 'embedded' AND i.payment_hash = p.payment_hash)
  WHERE taken <> CASE
      WHEN state = 'failed' OR payee_wallet = wallet_id THEN 0
      WHEN state = 'pending' THEN amount + fee_limit
      ELSE amount + min(fee, fee_limit) END
    OR in_flight <> CASE WHEN state = 'pending' THEN amount + fee_limit ELSE 0 END
    OR sent <> CASE WHEN state = 'succeeded' AND payee_wallet IS NULL THEN amount + fee ELSE 0 END
    OR given <> CASE WHEN payee_wallet IS NULL OR payee_wallet = wallet_id THEN 0 ELSE amount END`;

/** An invoice was paid by exactly one payment within the host, or over Lightning. */
const wrongReceipts = `
  SELECT id FROM invoices i WHERE coalesce(received, 0) <>
    (SELECT coalesce(sum(amount), 0) FROM entries WHERE request_id = i.id AND kind = 'receipt'
      AND credit = '${walletAccount('')}' || i.wallet_id)
    + (SELECT coalesce(sum(amount), 0) FROM payments
      WHERE payment_hash = i.payment_hash AND state = 'succeeded' AND backend = 'embedded')`;

const wrongDeposits = `
  SELECT id FROM wallet_deposits d WHERE NOT EXISTS (
    SELECT 1 FROM entries WHERE request_id = d.id AND kind = 'deposit'
      AND debit = CASE d.source WHEN 'faucet' THEN '${faucetAccount}' ELSE '${lightningAccount}' END
      AND credit = '${walletAccount('')}' || d.wallet_id AND entries.amount = d.amount)`;
