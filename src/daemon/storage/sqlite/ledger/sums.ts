import type { Connection } from '../engine/connection.ts';

/** Accounts whose stored balance is not the sum of their entries; `total` is the sum of all balances, which is zero. */
export interface Sums {
  accounts: number;
  wrong: string[];
  total: number;
}

/** Adds up every ledger entry. Reads the whole ledger: about half a microsecond an entry. */
export function addUp(database: Connection): Sums {
  return database.transaction(() => {
    const moved = new Map<string, number>();
    const add = (account: string, amount: number) => moved.set(account, (moved.get(account) ?? 0) + amount);
    const pairs = database
      .prepare<[], { debit: string; credit: string; amount: number }>(
        'SELECT debit, credit, sum(amount) AS amount FROM entries GROUP BY debit, credit',
      )
      .all();
    for (const { debit, credit, amount } of pairs) {
      add(debit, -amount);
      add(credit, amount);
    }
    const stored = new Map(
      database.prepare<[], [string, number]>('SELECT id, balance FROM accounts').raw().all(),
    );
    const wrong = [...new Set([...moved.keys(), ...stored.keys()])]
      .filter((account) => (moved.get(account) ?? 0) !== (stored.get(account) ?? 0))
      .sort();
    return { accounts: stored.size, wrong, total: balancesTotal(database) };
  })();
}

/** The sum of all stored balances: zero, as every entry takes from one account what it gives to another. */
export function balancesTotal(database: Connection): number {
  return database.prepare<[], number>('SELECT coalesce(sum(balance), 0) FROM accounts').pluck().get() ?? 0;
}

/** What is wrong, as sentences; empty when all is well. */
export function problemsOf({ wrong, total }: Pick<Sums, 'wrong' | 'total'>): string[] {
  const problems = wrong.map((account) => `the balance of ${account} is not the sum of its entries`);
  if (total !== 0) problems.push(`all balances together are ${total}, not zero`);
  return problems;
}
