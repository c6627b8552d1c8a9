import type { LedgerEntry } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import { isInMsat, type LedgerUnit } from './accounts.ts';

export interface Balances {
  accounts: number;
  /** Accounts whose stored balance is not the sum of their entries. */
  wrong: { account: string; balance: number; sum: number }[];
  /** The sum of all stored balances of each unit, which must be zero. */
  totals: Record<LedgerUnit, number>;
}

/** The sum that all entries of a kind moved from one account to another. */
export interface EntrySum {
  kind: LedgerEntry['kind'];
  debit: string;
  credit: string;
  amount: number;
}

/** The number of entries grouped at a time: grouping many more takes twice as long, and all of them a temporary file. */
const groupedAtOnce = 2_000;

/** Adds up the whole ledger: about half a microsecond per entry. */
export function sumEntries(database: Connection, atOnce = groupedAtOnce): EntrySum[] {
  const next = database
    .prepare<[string, number], string>(
      'SELECT request_id FROM entries WHERE request_id >= ? ORDER BY request_id LIMIT 1 OFFSET ?',
    )
    .pluck();
  const grouped = (end: string) =>
    database.prepare<{ from: string; to?: string }, EntrySum>(
      `SELECT kind, debit, credit, sum(amount) AS amount FROM entries
       WHERE request_id >= @from ${end} GROUP BY debit, credit, kind`,
    );
  const [until, toEnd] = [grouped('AND request_id < @to'), grouped('')];
  const sums = new Map<string, EntrySum>();
  database.transaction(() => {
    let from: string | undefined = '';
    while (from !== undefined) {
      const to: string | undefined = next.get(from, atOnce);
      for (const group of to === undefined ? toEnd.all({ from }) : until.all({ from, to })) {
        const name = JSON.stringify([group.kind, group.debit, group.credit]);
        const sum = sums.get(name);
        if (sum) sum.amount += group.amount;
        else sums.set(name, group);
      }
      from = to;
    }
  })();
  return [...sums.values()];
}

/** Compares all balances with the ledger entries, which it adds up unless their sums are known. */
export function checkBalances(database: Connection, entrySums?: readonly EntrySum[]): Balances {
  return database.transaction(() => {
    const sums = new Map<string, number>();
    const add = (account: string, amount: number) => sums.set(account, (sums.get(account) ?? 0) + amount);
    for (const { debit, credit, amount } of entrySums ?? sumEntries(database)) {
      add(debit, -amount);
      add(credit, amount);
    }
    const stored = new Map(
      database.prepare<[], [string, number]>('SELECT id, balance FROM accounts').raw().all(),
    );
    const wrong = [...new Set([...sums.keys(), ...stored.keys()])]
      .map((account) => ({ account, balance: stored.get(account) ?? 0, sum: sums.get(account) ?? 0 }))
      .filter(({ balance, sum }) => balance !== sum)
      .sort((a, b) => (a.account < b.account ? -1 : 1));
    return { accounts: stored.size, wrong, totals: balanceTotals(database) };
  })();
}

/** The sums of all stored balances: zero, as each entry moves an amount between two accounts of one unit. */
export function balanceTotals(database: Connection): Balances['totals'] {
  const totals: Balances['totals'] = { 'nano-dollars': 0, millisatoshis: 0 };
  const sums = database.prepare<[], { isMsat: 0 | 1; total: number }>(
    `SELECT ${isInMsat('id')} AS isMsat, sum(balance) AS total FROM accounts GROUP BY 1`,
  );
  for (const { isMsat, total } of sums.all()) totals[isMsat === 1 ? 'millisatoshis' : 'nano-dollars'] = total;
  return totals;
}

/** The problems as clauses; empty if there are none. */
export function balanceProblems({ wrong, totals }: Pick<Balances, 'wrong' | 'totals'>): string[] {
  const problems = wrong.map(({ account }) => `the balance of ${account} is not the sum of its entries`);
  for (const [unit, total] of Object.entries(totals)) {
    if (total !== 0) problems.push(`all balances in ${unit} add up to ${total} instead of zero`);
  }
  return problems;
}
