import type { Migration } from '../migrate.ts';

const name = (column: string) => `(SELECT text FROM names WHERE number = calls.${column})`;

/** For reading by hand, and in tests. */
const view = `CREATE VIEW usage AS SELECT number, request_id, response_id, ${name('workspace')} AS workspace_id,
  ${name('key')} AS key_id, ${name('endpoint')} AS endpoint, ${name('model')} AS model, ${name('provider')} AS provider,
  streamed, own_key, ${name('status')} AS status, ${name('error_code')} AS error_code, input, cached_input, cache_write,
  output, reasoning, tokens_reported, cost_provider, cost_margin, charged, ttft_ms, total_ms, created_at, completed_at,
  details, ${name('client')} AS client, ${name('end_user')} AS end_user, ${name('conversation')} AS conversation,
  (SELECT group_concat(text) FROM json_each(tags) CROSS JOIN names ON names.number = json_each.value) AS tags,
  ${name('replay_of')} AS replay_of, ${name('prices')} AS prices, ${name('cache')} AS cache, http_status FROM calls`;

/**
 * Who made a call and for what, the prices that were applied, and the status of its response. The columns of calls that are
 * named like a kind of name (client, end_user, conversation, replay_of, prices, cache) are numbers in `names`, tags a JSON array of
 * such numbers.
 */
export const callLabels: Migration = {
  version: 44,
  rows: {},
  statements: [
    ...['client', 'end_user', 'conversation'].map(
      (column) => `ALTER TABLE calls ADD COLUMN ${column} INTEGER`,
    ),
    'ALTER TABLE calls ADD COLUMN tags TEXT',
    ...['replay_of', 'prices', 'cache', 'http_status'].map(
      (column) => `ALTER TABLE calls ADD COLUMN ${column} INTEGER`,
    ),
    'ALTER TABLE holds ADD COLUMN labels TEXT',
    ...['client', 'end_user', 'conversation', 'tags', 'replay_of'].map(
      (column) => `ALTER TABLE rejections ADD COLUMN ${column} TEXT`,
    ),
    'DROP VIEW usage',
    view,
    // The distinct clients of each workspace.
    `CREATE TABLE clients (
      workspace INTEGER NOT NULL,
      client INTEGER NOT NULL,
      PRIMARY KEY (workspace, client)
    ) STRICT, WITHOUT ROWID`,
  ],
};
