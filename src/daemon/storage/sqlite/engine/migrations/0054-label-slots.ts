import type { Connection } from '../connection.ts';
import type { Migration } from '../migrate.ts';
import { recentOf } from './0045-usage-slots.ts';

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

const tables = {
  // Totals by client (kind 5), user (6), tag (7) and error code (10) of each quarter of an hour since 1970.
  usage_label_slots: `CREATE TABLE usage_label_slots (
    workspace INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    value INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, kind, slot, value)
  ) STRICT, WITHOUT ROWID`,
  // Requests to providers in each half hour since 1970: answered ones by ⌊4·log₂⌋ of the milliseconds until the answer began,
  // failed ones by their error code. The last call among them is kept as an example.
  attempt_slots: `CREATE TABLE attempt_slots (
    workspace INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    provider INTEGER NOT NULL,
    model INTEGER NOT NULL,
    error_code INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts > 0),
    last INTEGER NOT NULL,
    PRIMARY KEY (workspace, slot, provider, model, error_code, bucket)
  ) STRICT, WITHOUT ROWID`,
};

const names =
  'requests, unpriced, input, cached_input, cache_write, output, reasoning, cost_provider, cost_margin, charged';
const callSums = `count(*), count(*) - count(cost_provider), sum(input), sum(cached_input), sum(cache_write), sum(output),
  sum(reasoning), coalesce(sum(cost_provider), 0), coalesce(sum(cost_margin), 0), sum(charged)`;
const recent = 'number > @after AND number <= @last AND completed_at >= @from';

const labels = (
  [
    [5, 'client', 'calls'],
    [6, 'end_user', 'calls'],
    [7, 'json_each.value', 'calls CROSS JOIN json_each(calls.tags)'],
    [10, 'error_code', 'calls'],
  ] as const
).map(
  ([kind, value, from]) =>
    `SELECT ${kind} AS kind, ${value} AS value, calls.* FROM ${from} WHERE ${recent} AND ${value} IS NOT NULL`,
);

const attempt = (at: number) => `json_each.value ->> '$[${at}]'`;

const filling = [
  `INSERT INTO usage_label_slots (workspace, kind, slot, value, ${names})
   SELECT workspace, kind, completed_at / 900000, value, ${callSums} FROM (${labels.join(' UNION ALL ')})
   GROUP BY 1, 2, 3, 4`,
  `INSERT INTO attempt_slots (workspace, slot, provider, model, error_code, bucket, attempts, last)
   SELECT workspace, completed_at / 1800000, ${attempt(0)}, ${attempt(1)}, coalesce(${attempt(3)}, 0),
     iif(${attempt(3)} IS NULL, CAST(floor(4 * log2(max(${attempt(4)}, 0.1))) AS INTEGER), 0), count(*), max(number)
   FROM calls CROSS JOIN json_each(calls.details) WHERE ${recent} AND json_each.key > 0 GROUP BY 1, 2, 3, 4, 5, 6`,
];

const totalsFrom = "(SELECT value FROM meta WHERE name = 'totals_from')";
const foldedTo = "(SELECT value FROM meta WHERE name = 'folded_to')";
/** The calls with an error code since the totals by label began, which are the ones that the index lists. */
const errors = `SELECT calls.workspace, 10, calls.completed_at / 86400000, calls.error_code, ${callSums}
  FROM call_index CROSS JOIN calls USING (number)
  WHERE kind = 10 AND calls.completed_at >= coalesce(${totalsFrom}, 0) AND number <= coalesce(${foldedTo}, ${Number.MIN_SAFE_INTEGER})
  GROUP BY 1, 2, 3, 4`;

/** Adds totals by label and quarter of an hour, by error code, and of the requests to providers. The first and the last begin at `slots_from`. */
export const labelSlots: Migration = {
  version: 54,
  prepare(database: Connection) {
    for (const [name, sql] of Object.entries(tables)) {
      // Left by a start that was killed here.
      database.exec(`DROP TABLE IF EXISTS ${name}`);
      database.exec(sql);
    }
    const range = recentOf(database);
    const began = database.prepare<[], number>(`SELECT coalesce(${totalsFrom}, 0)`).pluck().get() ?? 0;
    const from = Math.max(range.from, began);
    for (const sql of filling) database.prepare<[object]>(sql).run({ ...range, from });
    database.exec('DROP TABLE IF EXISTS temp.slots_mark; CREATE TEMP TABLE slots_mark (start)');
    database.prepare<[number]>('INSERT INTO slots_mark VALUES (?)').run(from);
  },
  rows: (count) => ({ meta: 1, usage_label_days: count(`(${errors})`) }),
  statements: [
    // Up to which day and key the old totals by key and quarter of an hour of a workspace are deleted.
    `CREATE TABLE pruned_slots (
      workspace INTEGER PRIMARY KEY,
      day INTEGER NOT NULL,
      key INTEGER NOT NULL
    ) STRICT`,
    `INSERT INTO usage_label_days (workspace, kind, day, value, ${names}) ${errors}`,
    "INSERT INTO meta SELECT 'slots_from', start FROM temp.slots_mark",
    'DROP TABLE temp.slots_mark',
  ],
};
