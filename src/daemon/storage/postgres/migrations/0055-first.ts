import type { Migration } from '../migrate.ts';
import { functions } from './0055-functions.ts';
import { tables } from './0055-tables.ts';

const nameOf = (column: string) => `(SELECT text FROM names WHERE number = calls.${column})`;

/** Equals the SQLite schema of the same version. */
export const first: Migration = {
  version: 55,
  statements: [
    ...tables,
    ...functions,
    `CREATE VIEW usage AS SELECT number, request_id, response_id, ${nameOf('workspace')} AS workspace_id,
       ${nameOf('key')} AS key_id, ${nameOf('endpoint')} AS endpoint, ${nameOf('model')} AS model,
       ${nameOf('provider')} AS provider, streamed, own_key, ${nameOf('status')} AS status,
       ${nameOf('error_code')} AS error_code, input, cached_input, cache_write, output, reasoning, tokens_reported,
       cost_provider, cost_margin, charged, ttft_ms, total_ms, created_at, completed_at, details,
       ${nameOf('client')} AS client, ${nameOf('end_user')} AS end_user, ${nameOf('conversation')} AS conversation,
       (SELECT string_agg(text, ',') FROM json_each(tags) JOIN names ON names.number = CAST(json_each.value AS bigint)) AS tags,
       ${nameOf('replay_of')} AS replay_of, ${nameOf('prices')} AS prices, ${nameOf('cache')} AS cache, http_status FROM calls`,
    `INSERT INTO meta (name, value)
     VALUES ('checkpoint_link', 0), ('first_event', 1), ('folded_to', 0), ('slots_from', 0), ('totals_from', 0)`,
    "INSERT INTO ledger_chain (number, entries, total, hash) VALUES (0, '[]', 0, decode(repeat('00', 32), 'hex'))",
    `INSERT INTO names (number, text)
     VALUES (1, 'completed'), (2, 'incomplete'), (3, 'failed'), (4, 'canceled'), (5, 'interrupted')`,
    'INSERT INTO daemons (number, started_at) VALUES (0, 0)',
  ],
};
