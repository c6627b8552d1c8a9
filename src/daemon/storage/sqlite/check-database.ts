import type { Connection } from './engine/connection.ts';
import { isDamage } from './engine/errors.ts';
import { pageProblems, referenceProblems } from './engine/integrity.ts';
import { readMeta } from './engine/meta.ts';
import { balanceProblems, checkBalances } from './ledger/check-balances.ts';
import { verifyChain } from './ledger/ledger-chain.ts';
import { wrongSpending } from './ledger/spending.ts';

/** `problems` are sentences or clauses; `chainVerified` is the last link of the ledger chain that was verified. */
export interface CheckFindings {
  problems: string[];
  chainVerified: number;
}

/** Checks the database while the daemon runs. SQLite has no checksums, so only the sums reveal a changed amount. */
export function checkDatabase(database: Connection): CheckFindings {
  let chainVerified = 0;
  const checks = [
    () => pageProblems(database, 'quick_check'),
    () => referenceProblems(database),
    () => balanceProblems(checkBalances(database)),
    () => negativeHolds(database),
    () => wrongSpending(database).map((key) => `the spending of ${key} is not the sum of its calls`),
    () => {
      const { problems, last } = verifyChain(database, { from: readMeta(database, 'chain_verified') ?? 0 });
      chainVerified = last;
      return problems;
    },
  ];
  return { problems: [...new Set(checks.flatMap(damageAsProblem))], chainVerified };
}

/** SQLite throws for a page that it cannot read at all. */
function damageAsProblem(check: () => string[]): string[] {
  try {
    return check();
  } catch (error) {
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

/** The quick check skips the CHECKs of tables WITHOUT ROWID. */
function negativeHolds(database: Connection): string[] {
  const count = database
    .prepare<[], number>(
      'SELECT count(*) FROM holds WHERE min(amount, prompt_cost, coalesce(progress_cost, 0)) < 0',
    )
    .pluck()
    .get();
  return count === 0 ? [] : ['a hold has a negative amount'];
}
