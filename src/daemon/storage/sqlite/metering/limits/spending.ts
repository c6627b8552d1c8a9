import { utcDay } from '../../../../../shared/time/time.ts';
import type { KeyFacts, LedgerStore } from '../../../../features/metering/ledger-store.ts';
import type { Spend } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import { indexKinds } from '../usage/index-kinds.ts';
import { dayMs, foldedTo } from '../usage/usage-totals.ts';

/** A key and all its descendants, or an autopilot. */
export const keyTree = `WITH RECURSIVE tree (id) AS (
  SELECT coalesce((SELECT id FROM keys WHERE id = @keyId), @keyId) UNION SELECT keys.id FROM keys JOIN tree ON keys.parent_id = tree.id)`;

/** The numbers of the names in `keyTree`. */
export const keyNumbers = 'SELECT number FROM tree CROSS JOIN names WHERE text = tree.id';

const none: Spend = { total: 0, day: 0, month: 0 };

/** The spending of a key and its descendants, from the daily totals. */
export function spendingReads(database: Connection) {
  type Period = { keyId: string; day: string; month: string };
  const spend = database.prepare<[Period], Spend>(
    `${keyTree}
     SELECT coalesce(sum(amount), 0) AS total,
       coalesce(sum(amount) FILTER (WHERE day = @day), 0) AS day,
       coalesce(sum(amount) FILTER (WHERE substr(day, 1, 7) = @month), 0) AS month
     FROM key_spend WHERE key_id IN (SELECT id FROM tree)`,
  );
  const spendOfCalls = database.prepare<[Period & { requestIds: string }], Spend>(
    `${keyTree}
     SELECT coalesce(sum(charged), 0) AS total,
       coalesce(sum(charged) FILTER (WHERE date(completed_at / 1000, 'unixepoch') = @day), 0) AS day,
       coalesce(sum(charged) FILTER (WHERE substr(date(completed_at / 1000, 'unixepoch'), 1, 7) = @month), 0)
         AS month
     FROM calls
     WHERE request_id IN (SELECT value FROM json_each(@requestIds))
       AND (+key IN (${keyNumbers}) OR +budget IN (${keyNumbers}))`,
  );
  const recent = database
    .prepare<[{ keyId: string; since: number; except: string }], number>(
      `${keyTree}
       SELECT created_at FROM calls
       WHERE number IN (
         SELECT number FROM call_index
         WHERE workspace = (SELECT number FROM names WHERE text = (SELECT workspace_id FROM keys WHERE id = @keyId))
           AND kind = ${indexKinds.key} AND value IN (${keyNumbers}) AND completed_at >= @since
         UNION ALL SELECT number FROM calls
         WHERE number > (SELECT value FROM meta WHERE name = 'folded_to') AND key IN (${keyNumbers})
           AND completed_at >= @since)
         AND created_at >= @since
         AND request_id NOT IN (SELECT value FROM json_each(@except))
       ORDER BY created_at`,
    )
    .pluck();
  const periodOf = (keyId: string, at: number): Period => {
    const day = utcDay(at);
    return { keyId, day, month: day.slice(0, 7) };
  };
  return {
    spendOfKey: (keyId: string, at: number): Spend => spend.get(periodOf(keyId, at)) ?? none,

    /** When the finished calls of a key and its descendants started, ascending, for those that did since a time. */
    startsOfKey: (keyId: string, since: number): number[] => recent.all({ keyId, since, except: '[]' }),

    /** One snapshot of the spending and the recent calls, without the calls in `except`. */
    keyFacts: database.transaction(
      (keyId: string, { at, since, except }: Parameters<LedgerStore['keyFacts']>[1]): KeyFacts => {
        const period = periodOf(keyId, at);
        const requestIds = JSON.stringify(except);
        const all = spend.get(period) ?? none;
        const left = except.length === 0 ? none : (spendOfCalls.get({ ...period, requestIds }) ?? none);
        return {
          spend: { total: all.total - left.total, day: all.day - left.day, month: all.month - left.month },
          recent: recent.all({ keyId, since, except: requestIds }),
        };
      },
    ),
  };
}

/** Keys and days whose recorded spending is not the sum of their calls, like `key_1 on 2026-11-21`. */
export function wrongSpending(database: Connection): string[] {
  const find = database
    .prepare<[object], string>(
      `SELECT text || ' on ' || date(day * 86400, 'unixepoch') FROM (
         SELECT text, day, charged AS amount FROM usage_key_days JOIN names ON number = key
         UNION ALL SELECT text, completed_at / ${dayMs}, charged FROM calls JOIN names ON names.number = key
           WHERE calls.number > @foldedTo
         UNION ALL SELECT text, completed_at / ${dayMs}, charged FROM calls JOIN names ON names.number = budget
           WHERE budget IS NOT NULL AND budget IS DISTINCT FROM key
         UNION ALL SELECT key_id, unixepoch(day) / 86400, -amount FROM key_spend
       ) AS spent GROUP BY text, day HAVING sum(amount) <> 0 ORDER BY 1`,
    )
    .pluck();
  // One snapshot: calls are folded meanwhile.
  return database.transaction(() => find.all({ foldedTo: foldedTo(database) }))();
}
