import type { GrantRecord } from '../../../features/metering/ledger-store.ts';
import type { Connection } from '../engine/connection.ts';
import { eq, type Orm } from '../engine/orm.ts';
import type { BatchTotals } from './batch-totals.ts';
import { grantsAccount, workspaceAccount } from './ledger/accounts.ts';
import { entryFormat, entryInsert } from './ledger/ledger-chain.ts';
import { accounts, creditGrants } from './ledger/ledger-tables.ts';

/** Four million dollars in nano-dollars, well below the largest safe integer. */
export const balanceMax = 4_000_000_000_000_000;

type GrantOutcome = { grant: GrantRecord; isNew: boolean } | 'other-grant' | 'too-much';

export function ledgerWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEntry = entryInsert(database);
  return {
    'ledger.grant': (grant: GrantRecord): GrantOutcome => {
      const { id: requestId, amount, createdAt, reference } = grant;
      if (reference !== null) {
        const found = orm.select().from(creditGrants).where(eq(creditGrants.reference, reference)).get();
        if (found) return isSameGrant(found, grant) ? { grant: found, isNew: false } : 'other-grant';
      }
      const account = workspaceAccount(grant.workspaceId);
      const stored = orm.select().from(accounts).where(eq(accounts.id, account)).get();
      const balance = (stored?.balance ?? 0) + totals.pendingChange(account);
      if (balance + amount > balanceMax) return 'too-much';
      orm.insert(creditGrants).values(grant).run();
      const move = { kind: 'grant', debit: grantsAccount, credit: account } as const;
      const entry = entryFormat.row({ requestId, ...move, amount, createdAt });
      insertEntry.run(entry);
      totals.addEntry(entry);
      return { grant, isNew: true };
    },
  };
}

function isSameGrant(a: GrantRecord, b: GrantRecord): boolean {
  return a.workspaceId === b.workspaceId && a.amount === b.amount;
}

export type LedgerWrites = ReturnType<typeof ledgerWrites>;
