import type { SpendSubject } from '../../../features/metering/rules/budget-rule.ts';
import type { Connection } from '../engine/connection.ts';
import { holdReads } from './limits/hold-reads.ts';
import { subjectSpending } from './limits/subject-spending.ts';
import { verifyLedger } from './verify/verify-ledger.ts';

export function ledgerReads(database: Connection) {
  const subjectSpend = subjectSpending(database);
  const holds = holdReads(database);
  const use = (at: number) =>
    database.transaction((subject: SpendSubject) => ({
      spend: subjectSpend(subject, { at }),
      held: holds.ofSubject(subject),
    }));
  return {
    subjectUses: ({ subjects, at }: { subjects: readonly SpendSubject[]; at: number }) =>
      subjects.map(use(at)),
    /** Other reads run between its steps. */
    verify: (_: undefined, __: undefined, onStep: () => void) => verifyLedger(database, onStep),
  };
}

export type LedgerReads = ReturnType<typeof ledgerReads>;
