import { ApiError } from '../../../../shared/errors.ts';
import type { AccountRecord, LedgerStore } from '../../../features/metering/ledger-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { workspaceAccount } from './ledger/accounts.ts';
import type { LedgerReads } from './ledger-reads.ts';
import type { LedgerWrites } from './ledger-writes.ts';
import { holdReads } from './limits/hold-reads.ts';
import { spendingReads } from './limits/spending.ts';

type KeyUseOptions = Parameters<LedgerStore['keyUse']>[1];

export function ledgerStore({
  database,
  daemon,
  writer,
  reader,
  checker,
}: StoreContext<LedgerWrites, LedgerReads>): LedgerStore {
  const { spendOfKey, startsOfKey } = spendingReads(database);
  const holds = holdReads(database);
  const keyUse = database.transaction((keyId: string, { at, since, calendar }: KeyUseOptions) => ({
    spend: spendOfKey(keyId, at, calendar),
    requests: startsOfKey(keyId, since).length + holds.startsOfKey(keyId, since).length,
  }));
  const read = creditReads(database);

  return {
    subjectUses: (subjects, at) => reader.run('subjectUses', { subjects, at }),
    keyUse: async (keyId, options) => keyUse(keyId, options),
    balance: async (workspaceId) => read.balance.get(workspaceAccount(workspaceId)) ?? 0,
    async grant(grant) {
      const granted = await writer.write('ledger.grant', grant);
      if (granted === 'other-grant') {
        const message = 'Another grant already has this reference.';
        throw new ApiError('conflict', { param: 'reference', message });
      }
      if (granted === 'too-much') {
        const message = 'A workspace can have at most $4,000,000 of credit.';
        throw new ApiError('invalid_request', { param: 'usd', message });
      }
      return granted;
    },
    accounts: async (workspaceId) => read.accounts.all({ workspaceId: workspaceId ?? null }),
    verify: () => checker.run('verify'),
    stillHeld: async (requestIds) => read.held.all({ ids: JSON.stringify(requestIds), own: daemon }),
  };
}

function creditReads(database: Connection) {
  return {
    balance: database.prepare<[string], number>('SELECT balance FROM accounts WHERE id = ?').pluck(),
    accounts: database.prepare<[{ workspaceId: string | null }], AccountRecord>(
      `SELECT id AS workspaceId, slug, name,
         coalesce((SELECT balance FROM accounts WHERE id = '${workspaceAccount('')}' || workspaces.id), 0) AS balance,
         (SELECT coalesce(sum(amount), 0) FROM credit_grants WHERE workspace_id = workspaces.id) AS granted,
         (SELECT coalesce(sum(credit), 0) FROM payment_challenges
           WHERE workspace_id = workspaces.id AND used_at IS NOT NULL) AS bought,
         (SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = workspaces.id) AS held
       FROM workspaces WHERE id = @workspaceId OR @workspaceId IS NULL ORDER BY created_at, id`,
    ),
    held: database
      .prepare<[{ ids: string; own: number }], string>(
        `SELECT request_id FROM holds WHERE request_id IN (SELECT value FROM json_each(@ids))
           AND daemon NOT IN (SELECT number FROM daemons WHERE number <> @own AND successor IS NULL)`,
      )
      .pluck(),
  };
}
