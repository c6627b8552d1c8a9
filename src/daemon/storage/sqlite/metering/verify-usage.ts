import type { Connection } from '../engine/connection.ts';
import { callAsSums, dayMs, foldedTo, summedNames } from './fold-calls.ts';

const differs = summedNames.map((name) => `sum(${name}) <> 0`).join(' OR ');
const minus = summedNames.map((name) => `-${name}`).join(', ');
const group = 'day, model, provider, status';

/** Daily totals that differ from the folded calls, like `key_1 on 2026-11-21`, and totals of all keys, like `all keys on 2026-11-21`. */
export function usageProblems(database: Connection): string[] {
  const byKey = `SELECT coalesce((SELECT text FROM names WHERE number = key), 'logins') AS name, day FROM (
    SELECT workspace, coalesce(key, 0) AS key, completed_at / ${dayMs} AS day, model, coalesce(provider, 0) AS provider,
      status, ${callAsSums(1)} FROM calls WHERE number <= @foldedTo
    UNION ALL SELECT workspace, key, ${group}, ${minus} FROM usage_key_days
  ) GROUP BY day << 32 | key, model << 32 | provider, workspace, status HAVING ${differs}`;
  const ofAll = `SELECT 'all keys' AS name, day FROM (
    SELECT workspace, ${group}, ${summedNames.join(', ')} FROM usage_key_days
    UNION ALL SELECT workspace, ${group}, ${minus} FROM usage_days
  ) GROUP BY workspace, ${group} HAVING ${differs}`;
  return database
    .prepare<[object], string>(
      `SELECT DISTINCT name || ' on ' || date(day * 86400, 'unixepoch') FROM (${byKey} UNION ALL ${ofAll}) ORDER BY 1`,
    )
    .pluck()
    .all({ foldedTo: foldedTo(database) });
}
