import type { SpendSubject } from '../../../features/metering/ledger-store.ts';
import type { Connection } from '../engine/connection.ts';
import { subjectSpending } from './subject-spending.ts';
import { verifyLedger } from './verify-ledger.ts';

export function ledgerReads(database: Connection) {
  const subjectSpend = subjectSpending(database);
  return {
    subjectSpends: ({ subjects, at }: { subjects: readonly SpendSubject[]; at: number }) =>
      subjects.map((subject) => subjectSpend(subject, { at, except: [] })),
    /** Other reads run between its steps. */
    verify: (_: undefined, __: undefined, onStep: () => void) => verifyLedger(database, onStep),
  };
}

export type LedgerReads = ReturnType<typeof ledgerReads>;
