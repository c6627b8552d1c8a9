import type { Connection } from '../engine/connection.ts';

/** Amounts in nano-dollars. */
export interface Balances {
  accounts: number;
  /** Accounts whose stored balance is not the sum of their entries. */
  wrong: { account: string; balance: number; sum: number }[];
  /** The sum of all stored balances, which must be zero. */
  total: number;
}

/** Compares all balances with the ledger entries. Reads the whole ledger: about half a microsecond per entry. */
export function checkBalances(database: Connection): Balances {
  return database.transaction(() => {
    const sums = new Map<string, number>();
    const add = (account: string, amount: number) => sums.set(account, (sums.get(account) ?? 0) + amount);
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
    const wrong = [...new Set([...sums.keys(), ...stored.keys()])]
      .map((account) => ({ account, balance: stored.get(account) ?? 0, sum: sums.get(account) ?? 0 }))
      .filter(({ balance, sum }) => balance !== sum)
      .sort((a, b) => (a.account < b.account ? -1 : 1));
    return { accounts: stored.size, wrong, total: balancesTotal(database) };
  })();
}

/** The sum of all stored balances: zero, as each entry moves an amount between two accounts. */
export function balancesTotal(database: Connection): number {
  return database.prepare<[], number>('SELECT coalesce(sum(balance), 0) FROM accounts').pluck().get() ?? 0;
}

/** The problems as clauses; empty if there are none. */
export function balanceProblems({ wrong, total }: Pick<Balances, 'wrong' | 'total'>): string[] {
  const problems = wrong.map(({ account }) => `the balance of ${account} is not the sum of its entries`);
  if (total !== 0) problems.push(`all balances add up to ${total} instead of zero`);
  return problems;
}
