import { ApiError } from '../../../../shared/errors.ts';
import { utcDay } from '../../../../shared/time.ts';
import type { AccountRecord, LedgerStore } from '../../../features/metering/ledger-store.ts';
import type { Spend } from '../../../features/metering/metering-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Reader } from '../engine/reader.ts';
import type { Writer } from '../engine/writer.ts';
import { accountOf } from './accounts.ts';

/** A key, and all that descend from it. */
export const keyTree = `WITH RECURSIVE tree (id) AS (
  SELECT @keyId UNION SELECT keys.id FROM keys JOIN tree ON keys.parent_id = tree.id)`;

interface Sources {
  database: Connection;
  writer: Writer;
  reader: Reader;
}

/** Spending, balances and credit: what admission starts from, and what the books come to. */
export function ledgerStore({ database, writer, reader }: Sources): LedgerStore {
  const read = ledgerReads(database);
  const readFacts = database.transaction(
    (keyId: string, { at, since, except }: Parameters<LedgerStore['keyFacts']>[1]) => {
      const day = utcDay(at);
      const times = { keyId, day, month: day.slice(0, 7), except: JSON.stringify(except) };
      const spent = read.spend.get(times) ?? none;
      const left = except.length === 0 ? none : (read.spentBy.get(times) ?? none);
      const recent = read.recent.all({ keyId, since, except: times.except });
      return {
        spend: {
          total: spent.total - left.total,
          day: spent.day - left.day,
          month: spent.month - left.month,
        },
        recent,
      };
    },
  );
  const readBalance = database.transaction((workspaceId: string, except: readonly string[]) => {
    const balance = read.balance.get(accountOf(workspaceId)) ?? 0;
    const left =
      except.length === 0 ? 0 : (read.chargedTo.get({ workspaceId, except: JSON.stringify(except) }) ?? 0);
    return balance + left;
  });

  return {
    keyFacts: async (keyId, wish) => readFacts(keyId, wish),
    balance: async (workspaceId, { except }) => readBalance(workspaceId, except),
    async grant(grant) {
      const granted = await writer.write('ledger.grant', grant);
      if (granted === 'other') {
        throw new ApiError('conflict', {
          param: 'reference',
          message: 'Another grant has this reference already.',
        });
      }
      if (granted === 'too-much') {
        throw new ApiError('invalid_request', {
          param: 'usd',
          message: 'A workspace can have at most $4,000,000 of credit.',
        });
      }
      return granted;
    },
    accounts: async (workspaceId) => read.accounts.all({ workspaceId: workspaceId ?? null }),
    verify: () => reader.ask('verify'),
    stillHeld: async (requestIds) => read.held.all({ ids: JSON.stringify(requestIds) }),
  };
}

const none: Spend = { total: 0, day: 0, month: 0 };

type Times = { keyId: string; day: string; month: string; except: string };

function ledgerReads(database: Connection) {
  return {
    spend: database.prepare<[Times], Spend>(
      `${keyTree}
       SELECT coalesce(sum(amount), 0) AS total,
         coalesce(sum(amount) FILTER (WHERE day = @day), 0) AS day,
         coalesce(sum(amount) FILTER (WHERE substr(day, 1, 7) = @month), 0) AS month
       FROM key_spend WHERE key_id IN (SELECT id FROM tree)`,
    ),
    spentBy: database.prepare<[Times], Spend>(
      `${keyTree}
       SELECT coalesce(sum(charged), 0) AS total,
         coalesce(sum(charged) FILTER (WHERE date(completed_at / 1000, 'unixepoch') = @day), 0) AS day,
         coalesce(sum(charged) FILTER (WHERE strftime('%Y-%m', completed_at / 1000, 'unixepoch') = @month), 0)
           AS month
       FROM usage
       WHERE request_id IN (SELECT value FROM json_each(@except)) AND key_id IN (SELECT id FROM tree)`,
    ),
    recent: database
      .prepare<[{ keyId: string; since: number; except: string }], number>(
        `${keyTree}
         SELECT created_at FROM usage
         WHERE workspace_id = (SELECT workspace_id FROM keys WHERE id = @keyId) AND completed_at >= @since
           AND created_at >= @since AND key_id IN (SELECT id FROM tree)
           AND request_id NOT IN (SELECT value FROM json_each(@except))
         ORDER BY created_at`,
      )
      .pluck(),
    balance: database.prepare<[string], number>('SELECT balance FROM accounts WHERE id = ?').pluck(),
    chargedTo: database
      .prepare<[{ workspaceId: string; except: string }], number>(
        `SELECT coalesce(sum(charged), 0) FROM usage
         WHERE request_id IN (SELECT value FROM json_each(@except)) AND workspace_id = @workspaceId`,
      )
      .pluck(),
    accounts: database.prepare<[{ workspaceId: string | null }], AccountRecord>(
      `SELECT id AS workspaceId, slug, name,
         coalesce((SELECT balance FROM accounts WHERE id = 'workspace:' || workspaces.id), 0) AS balance,
         (SELECT coalesce(sum(amount), 0) FROM credit_grants WHERE workspace_id = workspaces.id) AS granted,
         (SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = workspaces.id) AS held
       FROM workspaces WHERE @workspaceId IS NULL OR id = @workspaceId ORDER BY created_at, id`,
    ),
    held: database
      .prepare<[{ ids: string }], string>(
        'SELECT request_id FROM holds WHERE request_id IN (SELECT value FROM json_each(@ids))',
      )
      .pluck(),
  };
}
