import type { Connection } from '../connection.ts';
import type { Migration } from '../migrate.ts';

/** Calls copied per transaction, so that the write-ahead log stays short. */
const copiedAtOnce = 20_000;

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

/** Left by a start that was killed during this migration. */
const unfinished = ['call_index', 'usage_key_days', 'usage_days', 'calls', 'names'];

const tables = [
  // Texts that many rows repeat. The rows contain their numbers.
  `CREATE TABLE names (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
  ) STRICT`,
  // Code refers to these numbers.
  `INSERT INTO names VALUES (1, 'completed'), (2, 'incomplete'), (3, 'failed'), (4, 'canceled'), (5, 'interrupted')`,
  // Numbered by the event sequence, so that the event of a settled call is this row. Columns named like a kind of name
  // (workspace, key, endpoint, model, provider, status, error_code) are numbers in `names`.
  `CREATE TABLE calls (
    number INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL UNIQUE,
    response_id TEXT,
    workspace INTEGER NOT NULL,
    key INTEGER,
    endpoint INTEGER NOT NULL,
    model INTEGER NOT NULL,
    provider INTEGER,
    streamed INTEGER NOT NULL,
    own_key INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error_code INTEGER,
    input INTEGER NOT NULL CHECK (input >= 0),
    cached_input INTEGER NOT NULL CHECK (cached_input >= 0),
    cache_write INTEGER NOT NULL CHECK (cache_write >= 0),
    output INTEGER NOT NULL CHECK (output >= 0),
    reasoning INTEGER NOT NULL CHECK (reasoning >= 0),
    tokens_reported INTEGER NOT NULL,
    cost_provider INTEGER CHECK (cost_provider >= 0),
    cost_margin INTEGER CHECK ((cost_margin IS NULL) = (cost_provider IS NULL)),
    charged INTEGER NOT NULL CHECK (charged >= 0),
    ttft_ms INTEGER,
    total_ms INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    details TEXT NOT NULL
  ) STRICT`,
  // Totals of the calls of each UTC day, as days since 1970. In both, provider 0 stands for none, and key 0 for logins.
  `CREATE TABLE usage_days (
    workspace INTEGER NOT NULL,
    day INTEGER NOT NULL,
    model INTEGER NOT NULL,
    provider INTEGER NOT NULL,
    status INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, day, model, provider, status)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE usage_key_days (
    workspace INTEGER NOT NULL,
    key INTEGER NOT NULL,
    day INTEGER NOT NULL,
    model INTEGER NOT NULL,
    provider INTEGER NOT NULL,
    status INTEGER NOT NULL,
    ${sums},
    PRIMARY KEY (workspace, key, day, model, provider, status)
  ) STRICT, WITHOUT ROWID`,
  // A table instead of several indexes, so that many calls are added at once.
  `CREATE TABLE call_index (
    workspace INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    value INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (workspace, kind, value, completed_at, number)
  ) STRICT, WITHOUT ROWID`,
];

/** Lists the folded calls by workspace (kind 0), key (1), model (2), provider (3) and a status other than `completed` (4). */
const index = `INSERT INTO call_index
  SELECT workspace, 0, 0, completed_at, number FROM calls
  UNION ALL SELECT workspace, 1, key, completed_at, number FROM calls WHERE key IS NOT NULL
  UNION ALL SELECT workspace, 2, model, completed_at, number FROM calls
  UNION ALL SELECT workspace, 3, provider, completed_at, number FROM calls WHERE provider IS NOT NULL
  UNION ALL SELECT workspace, 4, status, completed_at, number FROM calls WHERE status <> 1
  ORDER BY 1, 2, 3, 4, 5`;

const keyTotals = `INSERT INTO usage_key_days
  SELECT workspace, coalesce(key, 0), completed_at / 86400000, model, coalesce(provider, 0), status, count(*),
    count(*) - count(cost_provider), sum(input), sum(cached_input), sum(cache_write), sum(output), sum(reasoning),
    coalesce(sum(cost_provider), 0), coalesce(sum(cost_margin), 0), sum(charged)
  FROM calls GROUP BY 1, 2, 3, 4, 5, 6`;

const dayTotals = `INSERT INTO usage_days
  SELECT workspace, day, model, provider, status, sum(requests), sum(unpriced), sum(input), sum(cached_input),
    sum(cache_write), sum(output), sum(reasoning), sum(cost_provider), sum(cost_margin), sum(charged)
  FROM usage_key_days GROUP BY 1, 2, 3, 4, 5`;

const firstEventSql = `SELECT coalesce(min(sequence), (SELECT value + 1 FROM meta WHERE name = 'last_event'), 1)
  FROM events`;

const eventsOfCalls =
  "type IN ('request.completed', 'request.failed') AND sequence IN (SELECT number FROM calls)";

const name = (column: string) => `(SELECT text FROM names WHERE number = calls.${column})`;

/** For reading by hand, and in tests. */
const view = `CREATE VIEW usage AS SELECT number, request_id, response_id, ${name('workspace')} AS workspace_id,
  ${name('key')} AS key_id, ${name('endpoint')} AS endpoint, ${name('model')} AS model, ${name('provider')} AS provider,
  streamed, own_key, ${name('status')} AS status, ${name('error_code')} AS error_code, input, cached_input, cache_write,
  output, reasoning, tokens_reported, cost_provider, cost_margin, charged, ttft_ms, total_ms, created_at, completed_at,
  details FROM calls`;

interface UsageRow {
  request_id: string;
  workspace_id: string;
  key_id: string | null;
  endpoint: string;
  model: string;
  provider: string | null;
  status: string;
  error_code: string | null;
  attempts: string;
  trace: string | null;
}

/** Copies all calls in order of their ids, each under the sequence of its event if that is still stored. */
function copyCalls(database: Connection): void {
  const sequences = eventSequences(database);
  const nameNumber = nameNumbers(database);
  const read = database.prepare<[string], UsageRow>(
    `SELECT * FROM usage WHERE request_id > ? ORDER BY request_id LIMIT ${copiedAtOnce}`,
  );
  const insert =
    database.prepare(`INSERT INTO calls VALUES (@number, @request_id, @response_id, @workspace, @key,
    @endpoint, @model, @provider, @streamed, @own_key, @status, @error_code, @input, @cached_input, @cache_write, @output,
    @reasoning, @tokens_reported, @cost_provider, @cost_margin, @charged, @ttft_ms, @total_ms, @created_at, @completed_at,
    @details)`);
  let next = firstNumber(database, sequences);
  const copy = database.transaction((rows: UsageRow[]) => {
    for (const row of rows) {
      const sequence = sequences.get(row.request_id);
      const {
        workspace_id,
        key_id,
        endpoint,
        model,
        provider,
        status,
        error_code,
        attempts,
        trace,
        ...same
      } = row;
      insert.run({
        ...same,
        number: sequence ?? next,
        workspace: nameNumber(workspace_id),
        key: nameNumber(key_id),
        endpoint: nameNumber(endpoint),
        model: nameNumber(model),
        provider: nameNumber(provider),
        status: nameNumber(status),
        error_code: nameNumber(error_code),
        details: detailsOf(row, nameNumber),
      });
      if (sequence === undefined) next += 1;
    }
  });
  for (let last = ''; ; ) {
    const rows = read.all(last);
    copy(rows);
    if (rows.length < copiedAtOnce) return;
    last = rows.at(-1)?.request_id ?? '';
  }
}

/** The sequence of the event of each call whose event is still stored. */
function eventSequences(database: Connection): Map<string, number> {
  return new Map(
    database
      .prepare<[], [string, number]>(
        `SELECT data ->> '$.request_id' AS id, sequence FROM events
         WHERE type IN ('request.completed', 'request.failed') AND id IN (SELECT request_id FROM usage)`,
      )
      .raw()
      .all(),
  );
}

/** The other calls are numbered so that they end before the first stored event. */
function firstNumber(database: Connection, sequences: ReadonlyMap<string, number>): number {
  const firstEvent = database.prepare<[], number>(firstEventSql).pluck().get() ?? 1;
  const calls = database.prepare<[], number>('SELECT count(*) FROM usage').pluck().get() ?? 0;
  return firstEvent - (calls - sequences.size);
}

function nameNumbers(database: Connection) {
  const known = new Map(database.prepare<[], [string, number]>('SELECT text, number FROM names').raw().all());
  const insert = database.prepare<[number, string]>('INSERT INTO names (number, text) VALUES (?, ?)');
  return <Text extends string | null>(text: Text): Text extends null ? number | null : number => {
    if (text === null) return null as never;
    let number = known.get(text);
    if (number === undefined) {
      number = known.size + 1;
      known.set(text, number);
      insert.run(number, text);
    }
    return number as never;
  };
}

/** Attempts and trace in the form of `CallDetails`. */
function detailsOf(
  { attempts, trace }: UsageRow,
  nameNumber: (text: string | null) => number | null,
): string {
  const parsed = trace === null ? null : JSON.parse(trace);
  const traceRow = parsed && [
    parsed.admittedMs,
    parsed.heldMs,
    parsed.startedMs,
    nameNumber(parsed.finishReason),
    parsed.routes.flatMap((route: { provider: string; model: string }) => [
      nameNumber(route.provider),
      nameNumber(route.model),
    ]),
    ...(parsed.dropped ? [parsed.dropped] : []),
  ];
  type OldAttempt = { provider: string; model: string; status: number; errorCode: string | null; ms: number };
  const attemptRows = (JSON.parse(attempts) as OldAttempt[]).map(
    ({ provider, model, status, errorCode, ms }) => [
      nameNumber(provider),
      nameNumber(model),
      status,
      nameNumber(errorCode),
      ms,
    ],
  );
  return JSON.stringify([traceRow, ...attemptRows]);
}

/** Rebuilds usage as `calls`, which repeats no texts, and folds all calls into the totals per day and the index. */
export const calls: Migration = {
  version: 17,
  prepare(database) {
    for (const table of unfinished) database.exec(`DROP TABLE IF EXISTS ${table}`);
    for (const statement of tables) database.exec(statement);
    copyCalls(database);
    for (const statement of [index, keyTotals, dayTotals]) database.exec(statement);
  },
  rows: (count) => ({
    usage: -count('usage'),
    events: -count(`events WHERE ${eventsOfCalls}`),
    meta: 2,
  }),
  statements: [
    `INSERT INTO meta (name, value) VALUES ('first_event', (${firstEventSql}))`,
    "INSERT INTO meta (name, value) VALUES ('folded_to', (SELECT coalesce(max(number), 0) FROM calls))",
    `DELETE FROM events WHERE ${eventsOfCalls}`,
    'DROP TABLE usage',
    view,
  ],
};
