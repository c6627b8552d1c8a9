import type { Connection } from './engine/connection.ts';
import { isDamage } from './engine/errors.ts';
import { pageProblems, referenceProblems, tableNames } from './engine/integrity.ts';
import { readMeta } from './engine/meta.ts';
import { balanceProblems, checkBalances } from './metering/ledger/check-balances.ts';
import { verifyChain } from './metering/ledger/ledger-chain.ts';
import { wrongSpending } from './metering/limits/spending.ts';

/** `problems` are sentences or clauses; `chainVerified` is the last link of the ledger chain, if the part verified it. */
export interface CheckFindings {
  problems: string[];
  chainVerified: number | undefined;
}

/**
 * The parts of a check, which `checkPart` runs one by one: each reads its own snapshot, as the write-ahead log grows while a
 * snapshot is held.
 */
export function checkParts(database: Connection): string[] {
  return [
    'references',
    'balances',
    'holds',
    'spending',
    'chain',
    ...tableNames(database).map((name) => `pages of ${name}`),
  ];
}

/** Checks a part of the database while the daemon runs. SQLite has no checksums, so only the sums reveal a changed amount. */
export function checkPart(database: Connection, part: string): CheckFindings {
  let chainVerified: number | undefined;
  const checks: Record<string, () => string[]> = {
    references: () => referenceProblems(database),
    balances: () => balanceProblems(checkBalances(database)),
    holds: () => negativeHolds(database),
    spending: () =>
      wrongSpending(database).map((key) => `the spending of ${key} is not the sum of its calls`),
    chain: () => {
      const { problems, last } = verifyChain(database, { from: readMeta(database, 'chain_verified') ?? 0 });
      chainVerified = last;
      return problems;
    },
  };
  const check = checks[part] ?? (() => pageProblems(database, 'quick_check', part.replace('pages of ', '')));
  return { problems: damageAsProblem(check), chainVerified };
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
      'SELECT count(*) FROM holds WHERE amount < 0 OR prompt_cost < 0 OR progress_cost < 0',
    )
    .pluck()
    .get();
  return count === 0 ? [] : ['a hold has a negative amount'];
}
