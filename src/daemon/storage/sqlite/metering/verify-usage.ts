import type { Connection } from '../engine/connection.ts';
import { callAsSums, dayMs, foldedTo, summedNames } from './fold-calls.ts';

const group = 'workspace, day, model, provider, status';
const keyGroup = `key, ${group}`;
const names = summedNames.join(', ');
const differs = summedNames.map((name) => `sum(${name}) <> 0`).join(' OR ');
const minus = summedNames.map((name) => `-${name}`).join(', ');

export interface UsageFindings {
  /** Daily totals that differ from the folded calls, like `key_1 on 2026-11-21`, and totals of all keys, like `all keys on 2026-11-21`. */
  wrongTotals: string[];
  /** What all calls were charged, nano-dollars. */
  charged: number;
}

/** So many calls are grouped in memory; many more would be sorted in a file. */
const groupedAtOnce = 50_000;

/** Adds up all calls and compares the sums with the daily totals. */
export function verifyUsage(database: Connection, atOnce = groupedAtOnce): UsageFindings {
  return database.transaction(() => {
    addUpCalls(database, atOnce);
    const findings = { wrongTotals: wrongTotals(database), charged: chargedInAll(database) };
    database.exec('DROP TABLE temp.call_sums');
    return findings;
  })();
}

function wrongTotals(database: Connection): string[] {
  const byKey = `SELECT coalesce((SELECT text FROM names WHERE number = key), 'logins') AS name, day FROM (
    SELECT ${keyGroup}, ${names} FROM temp.call_sums
    UNION ALL SELECT ${keyGroup}, ${minus} FROM usage_key_days
  ) GROUP BY ${keyGroup} HAVING ${differs}`;
  const ofAll = `SELECT 'all keys' AS name, day FROM (
    SELECT ${group}, ${names} FROM usage_key_days
    UNION ALL SELECT ${group}, ${minus} FROM usage_days
  ) GROUP BY ${group} HAVING ${differs}`;
  return database
    .prepare<[], string>(
      `SELECT DISTINCT name || ' on ' || date(day * 86400, 'unixepoch') FROM (${byKey} UNION ALL ${ofAll}) ORDER BY 1`,
    )
    .pluck()
    .all();
}

function chargedInAll(database: Connection): number {
  const sum = database
    .prepare<[number], number>(
      `SELECT coalesce(sum(charged), 0) FROM
         (SELECT charged FROM temp.call_sums UNION ALL SELECT charged FROM calls WHERE number > ?)`,
    )
    .pluck();
  return sum.get(foldedTo(database)) ?? 0;
}

/** Adds up the folded calls in `temp.call_sums`, which has the columns of `usage_key_days`. */
function addUpCalls(database: Connection, atOnce: number): void {
  database.exec(
    `CREATE TEMP TABLE call_sums (${keyGroup}, ${names}, PRIMARY KEY (${keyGroup})) WITHOUT ROWID`,
  );
  const add = database.prepare<[{ from: number; to: number }]>(
    // Grouping by two columns in one number takes less time.
    `INSERT INTO temp.call_sums (${keyGroup}, ${names})
     SELECT ${keyGroup}, ${summedNames.map((name) => `sum(${name})`).join(', ')} FROM (
       SELECT workspace, coalesce(key, 0) AS key, completed_at / ${dayMs} AS day, model, coalesce(provider, 0) AS provider,
         status, ${callAsSums(1)} FROM calls WHERE number BETWEEN @from AND @to)
     WHERE TRUE GROUP BY day << 32 | key, model << 32 | provider, workspace, status
     ON CONFLICT DO UPDATE SET ${summedNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  );
  const last = foldedTo(database);
  const next = database
    .prepare<[{ after: number; last: number }], number>(
      'SELECT number FROM calls WHERE number > @after AND number <= @last ORDER BY number LIMIT 1',
    )
    .pluck();
  let from = next.get({ after: Number.MIN_SAFE_INTEGER, last });
  while (from !== undefined) {
    const to = Math.min(from + atOnce - 1, last);
    add.run({ from, to });
    from = next.get({ after: to, last });
  }
}
