import type { Connection } from '../engine/connection.ts';
import { verifyLedger } from './verify-ledger.ts';

export function ledgerReads(database: Connection) {
  return {
    /** Other reads run between its steps. */
    verify: (_: undefined, __: undefined, onStep: () => void) => verifyLedger(database, onStep),
  };
}

export type LedgerReads = ReturnType<typeof ledgerReads>;
