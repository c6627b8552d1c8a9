import type { SpendCalendar } from '../../../../../shared/money/spend-periods.ts';
import type { Spend } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import { indexKinds } from '../usage/index-kinds.ts';
import { dayMs, foldedTo } from '../usage/usage-totals.ts';
import { keyNumbers, keyTree, subjectSpending } from './subject-spending.ts';

/** The spending of a key and its descendants, from the daily totals. */
export function spendingReads(database: Connection) {
  const subjectSpend = subjectSpending(database);
  const recent = database
    .prepare<[{ keyId: string; since: number }], number>(
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
       ORDER BY created_at`,
    )
    .pluck();
  return {
    spendOfKey(keyId: string, at: number, calendar?: SpendCalendar): Spend {
      const subject = { workspaceId: '', kind: 'key', value: keyId, calendar } as const;
      const { none: total, ...spend } = subjectSpend(subject, { at });
      return { total, ...spend };
    },

    /** When the finished calls of a key and its descendants started, ascending, for those that did since a time. */
    startsOfKey: (keyId: string, since: number): number[] => recent.all({ keyId, since }),
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
