import type { GrantRecord } from '../../../features/metering/ledger-store.ts';
import type { Connection } from '../engine/connection.ts';
import { eq, type Orm } from '../engine/orm.ts';
import { accountOf, grantsAccount } from './accounts.ts';
import type { Totals } from './batch-totals.ts';
import { entryInsert } from './chain.ts';
import { creditGrants } from './tables.ts';

/** Far from what a safe integer holds in nano-dollars: four million dollars. */
const balanceMax = 4_000_000_000_000_000;

export function ledgerCommands(database: Connection, orm: Orm, totals: Totals) {
  const entry = entryInsert(database);
  const balance = database.prepare<[string], number>('SELECT balance FROM accounts WHERE id = ?').pluck();

  return {
    'ledger.grant': (grant: GrantRecord): { grant: GrantRecord; isNew: boolean } | 'other' | 'too-much' => {
      if (grant.reference !== null) {
        const found = orm
          .select()
          .from(creditGrants)
          .where(eq(creditGrants.reference, grant.reference))
          .get();
        if (found) return isSame(found, grant) ? { grant: found, isNew: false } : 'other';
      }
      const account = accountOf(grant.workspaceId);
      if ((balance.get(account) ?? 0) + totals.pending(account) + grant.amount > balanceMax)
        return 'too-much';
      orm.insert(creditGrants).values(grant).run();
      const entered = [grant.id, 'grant', grantsAccount, account, grant.amount, grant.createdAt] as const;
      entry.run(entered);
      totals.entered(entered);
      return { grant, isNew: true };
    },
  };
}

function isSame(a: GrantRecord, b: GrantRecord): boolean {
  return a.workspaceId === b.workspaceId && a.amount === b.amount;
}
