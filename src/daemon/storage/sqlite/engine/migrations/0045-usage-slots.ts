import type { Connection } from '../connection.ts';
import type { Migration } from '../migrate.ts';

/** So many of the newest calls are added up, in about two seconds; with older ones, the start could take minutes. */
const recentCalls = 250_000;

const sums = `requests INTEGER NOT NULL CHECK (requests >= 0),
  unpriced INTEGER NOT NULL CHECK (unpriced >= 0),
  input INTEGER NOT NULL CHECK (input >= 0),
  cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
  cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
  output INTEGER NOT NULL CHECK (output >= 0),
  reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
  cost_provider INTEGER NOT NULL CHECK (cost_provider >= 0),
  cost_margin INTEGER NOT NULL,
  charged INTEGER NOT NULL CHECK (charged >= 0)`;

const latency = (time: string) => `CREATE TABLE latency_${time}s (
  workspace INTEGER NOT NULL,
  ${time} INTEGER NOT NULL,
  model INTEGER NOT NULL,
  provider INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  calls INTEGER NOT NULL CHECK (calls > 0),
  PRIMARY KEY (workspace, ${time}, model, provider, metric, bucket)
) STRICT, WITHOUT ROWID`;

const tables = {
  // Totals of the calls of each quarter of an hour since 1970.
  usage_slots: `CREATE TABLE usage_slots (
    workspace INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    model INTEGER NOT NULL,
    provider INTEGER NOT NULL,
    status INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, slot, model, provider, status)
  ) STRICT, WITHOUT ROWID`,
  usage_key_slots: `CREATE TABLE usage_key_slots (
    workspace INTEGER NOT NULL,
    key INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    status INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, key, slot, status)
  ) STRICT, WITHOUT ROWID`,
  // Totals by client (kind 5), user (6) and tag (7) of each UTC day; value 0 stands for all beyond a number of them.
  usage_label_days: `CREATE TABLE usage_label_days (
    workspace INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    day INTEGER NOT NULL,
    value INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, kind, day, value)
  ) STRICT, WITHOUT ROWID`,
  // The number of calls by first token (metric 0), total (1), tokens per second (2) and overhead (3): ⌊4·log₂⌋ of the value.
  latency_hours: latency('hour'),
  latency_days: latency('day'),
};

/** The range of the calls that are added up: numbers, and the time of the first. */
interface Recent {
  after: number;
  last: number;
  from: number;
}

/**
 * Of the newest calls those since the first UTC day that has all of its calls among them: totals may only begin where no call
 * is missing, and numbers are not quite in the order of time.
 */
export function recentOf(database: Connection): Recent {
  const number = (sql: string) => database.prepare<[], number>(sql).pluck().get();
  const last = number("SELECT value FROM meta WHERE name = 'folded_to'") ?? 0;
  const after =
    number(
      `SELECT number FROM calls WHERE number <= ${last} ORDER BY number DESC LIMIT 1 OFFSET ${recentCalls}`,
    ) ?? Number.MIN_SAFE_INTEGER;
  const perDay = (sql: string) => new Map(database.prepare<[], [number, number]>(sql).raw().all());
  const found = perDay(
    `SELECT completed_at / 86400000, count(*) FROM calls WHERE number > ${after} AND number <= ${last} GROUP BY 1`,
  );
  const all = [...perDay('SELECT day, sum(requests) FROM usage_days GROUP BY day')].sort(([a], [b]) => b - a);
  const partial = all.find(([day, requests]) => found.get(day) !== requests);
  return { after, last, from: partial === undefined ? 0 : (partial[0] + 1) * 86_400_000 };
}

const names =
  'requests, unpriced, input, cached_input, cache_write, output, reasoning, cost_provider, cost_margin, charged';
const callSums = `count(*), count(*) - count(cost_provider), sum(input), sum(cached_input), sum(cache_write), sum(output),
  sum(reasoning), coalesce(sum(cost_provider), 0), coalesce(sum(cost_margin), 0), sum(charged)`;
const recent = 'number > @after AND number <= @last AND completed_at >= @from';

const bucket = (value: string) => `CAST(floor(4 * log2(max(${value}, 0.1))) AS INTEGER)`;
const latencies = (
  [
    [0, 'ttft_ms', 'ttft_ms IS NOT NULL'],
    [1, 'total_ms', 'status IN (1, 2)'],
    [2, '1000.0 * output / (total_ms - ttft_ms)', 'status IN (1, 2) AND output > 0 AND total_ms > ttft_ms'],
    [3, "(details ->> '$[0][2][0]')", "details ->> '$[0][2][0]' IS NOT NULL"],
  ] as const
).map(
  ([metric, value, where]) =>
    `SELECT workspace, completed_at / 3600000 AS hour, model, coalesce(provider, 0) AS provider, ${metric} AS metric,
       ${bucket(value)} AS bucket FROM calls WHERE ${recent} AND ${where}`,
);

const labels = (
  [
    [5, 'client', 'calls'],
    [6, 'end_user', 'calls'],
    [7, 'json_each.value', 'calls CROSS JOIN json_each(calls.tags)'],
  ] as const
).map(
  ([kind, value, from]) =>
    `SELECT ${kind} AS kind, ${value} AS value, calls.* FROM ${from} WHERE ${recent} AND ${value} IS NOT NULL`,
);

const log2 = (value: string) => `CAST(floor(log2(${value})) AS INTEGER)`;
const index = (
  [
    [6, 'end_user', 'end_user IS NOT NULL', 'calls'],
    [7, 'json_each.value', 'TRUE', 'calls CROSS JOIN json_each(calls.tags)'],
    [8, 'conversation', 'conversation IS NOT NULL', 'calls'],
    [9, 'replay_of', 'replay_of IS NOT NULL', 'calls'],
    [10, 'error_code', 'error_code IS NOT NULL', 'calls'],
    [11, log2('total_ms'), 'total_ms >= 4096', 'calls'],
    [12, log2('cost_provider + cost_margin'), 'cost_provider + cost_margin >= 10000000', 'calls'],
  ] as const
).map(
  ([kind, value, where, from]) =>
    `SELECT workspace, ${kind}, ${value}, completed_at, number FROM ${from} WHERE ${recent} AND ${where}`,
);

const filling = [
  `INSERT INTO usage_slots (workspace, slot, model, provider, status, ${names})
   SELECT workspace, completed_at / 900000, model, coalesce(provider, 0), status, ${callSums} FROM calls
   WHERE ${recent} GROUP BY 1, 2, 3, 4, 5`,
  `INSERT INTO usage_key_slots (workspace, key, slot, status, ${names})
   SELECT workspace, coalesce(key, 0), completed_at / 900000, status, ${callSums} FROM calls
   WHERE ${recent} GROUP BY 1, 2, 3, 4`,
  `INSERT INTO usage_label_days (workspace, kind, day, value, ${names})
   SELECT workspace, kind, completed_at / 86400000, value, ${callSums} FROM (${labels.join(' UNION ALL ')})
   GROUP BY 1, 2, 3, 4`,
  `INSERT INTO latency_hours SELECT workspace, hour, model, provider, metric, bucket, count(*)
   FROM (${latencies.join(' UNION ALL ')}) GROUP BY 1, 2, 3, 4, 5, 6`,
  `INSERT INTO latency_days SELECT workspace, hour / 24, model, provider, metric, bucket, sum(calls)
   FROM latency_hours GROUP BY 1, 2, 3, 4, 5, 6`,
];

/** The range of `prepare`, which the statements cannot be given. */
const marked = (name: string) => `(SELECT ${name} FROM temp.totals_mark)`;
const indexRows = index
  .join(' UNION ALL ')
  .replaceAll(/@(after|last|from)/g, (_, name: string) => marked(name === 'from' ? 'start' : name));

/**
 * Adds totals by quarter of an hour, by label, and of latency, and lists calls by what makes them stand out. They begin at
 * `totals_from`, so that a large database starts as fast as a small one.
 */
export const usageSlots: Migration = {
  version: 45,
  prepare(database) {
    for (const [name, sql] of Object.entries(tables)) {
      // Left by a start that was killed here.
      database.exec(`DROP TABLE IF EXISTS ${name}`);
      database.exec(sql);
    }
    const range = recentOf(database);
    for (const sql of filling) database.prepare<[object]>(sql).run(range);
    database.exec(
      'DROP TABLE IF EXISTS temp.totals_mark; CREATE TEMP TABLE totals_mark (after, last, start)',
    );
    database.prepare<[object]>('INSERT INTO totals_mark VALUES (@after, @last, @from)').run(range);
  },
  rows: (count) => ({ meta: 1, call_index: count(`(${indexRows})`) }),
  statements: [
    `INSERT INTO call_index (workspace, kind, value, completed_at, number) ${indexRows} ORDER BY 1, 2, 3, 4, 5`,
    "INSERT INTO meta SELECT 'totals_from', start FROM temp.totals_mark",
    'DROP TABLE temp.totals_mark',
  ],
};
