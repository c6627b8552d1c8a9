import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openForReading } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { longReads } from '../../src/daemon/storage/sqlite/long-reads.ts';
import { scopeNames } from '../../src/shared/contract/endpoint.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { endpoints } from '../support/endpoints.ts';
import { exampleOf, requestOf } from '../support/example-calls.ts';

/** Tables that grow with every call, message or payment. Others have a row per user, key, model, day or running call. */
const history = new Set([
  ...['calls', 'call_index', 'entries', 'ledger_chain', 'events', 'rejections'],
  ...['responses', 'response_items', 'response_events', 'background_responses'],
  ...['threads', 'thread_runs', 'thread_messages', 'thread_events'],
  ...['whispers', 'shouts', 'invoices', 'payments', 'wallet_deposits', 'credit_grants'],
  ...['idempotency_keys', 'cached_answers', 'agent_days', 'agent_sign_ups'],
]);

/** What SQLite would read in full, by the statement that does. */
const scans = new Set<string>();
const prepare = Database.prototype.prepare as (sql: string) => Database.Statement<unknown[]>;
let place: DaemonWithStranger;

/** Explains each statement of this process when it is run. */
Database.prototype.prepare = function explained(this: Database.Database, sql: string) {
  const statement = prepare.call(this, sql);
  if (!statement.reader || /^\s*(EXPLAIN|PRAGMA)/i.test(sql)) return statement;
  for (const name of ['all', 'get', 'iterate'] as const) {
    const original = statement[name].bind(statement) as (...values: unknown[]) => unknown;
    const run = (...values: unknown[]) => {
      const plan = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`);
      for (const { detail } of plan.all(...values) as { detail: string }[]) {
        // Few are running or pending at a time.
        if (/USING (COVERING )?INDEX \w+_(running|working|pending)$/.test(detail)) continue;
        const table = /^SCAN (\w+)/.exec(detail)?.[1] ?? '';
        if (history.has(tableOf(sql, table))) scans.add(`${detail} in ${sql.replace(/\s+/g, ' ')}`);
      }
      return original(...values);
    };
    Object.assign(statement, { [name]: run });
  }
  return statement;
} as typeof Database.prototype.prepare;

/** Plans name tables by their alias. */
function tableOf(sql: string, name: string): string {
  return new RegExp(`"?(\\w+)"? AS "?${name}"?\\b`, 'i').exec(sql)?.[1] ?? name;
}

beforeAll(async () => {
  place = await startWithStranger();
});

afterAll(async () => {
  Database.prototype.prepare = prepare as typeof Database.prototype.prepare;
  await place.daemon.stop();
});

const reads = endpoints.filter(({ method, stream }) => method === 'GET' && !stream?.always);

test('no endpoint that reads scans a table that grows with history', async () => {
  const found: Record<string, string[]> = {};
  for (const endpoint of reads) {
    const { secret } = await place.issue(scopeNames);
    const ids = await place.createExamples(secret, endpoint);
    scans.clear();
    for (const token of [secret, place.daemon.login]) {
      const { path, ...request } = requestOf(endpoint, exampleOf(endpoint, ids));
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      await (await fetch(place.daemon.url + path, { ...request, headers })).text();
    }
    if (scans.size > 0) found[endpoint.id] = [...scans];
  }
  expect(found).toEqual({});
});

test('no long read scans a table that grows with history', async () => {
  const { workspace, daemon } = place;
  const database = openForReading(join(daemon.home, 'gateway.db'));
  const long = longReads(database);
  const range = { since: 0, until: Date.now() };
  const filter = { workspaceId: workspace, ...range, limit: 20 };
  const { key } = (await (await daemon.fetch('/v1/usage?group_by=key')).json()) as { key: string };
  scans.clear();
  long.served();
  for (const groupBy of ['day', 'model', 'key'] as const) {
    for (const more of [{}, { keyId: key }, { model: 'sim/echo' }])
      long.summarize({
        keyId: undefined,
        model: undefined,
        ...more,
        workspaceId: workspace,
        ...range,
        groupBy: [groupBy],
        timeZone: 'UTC',
      });
  }
  for (const more of [
    {},
    { model: 'sim/echo' },
    { status: 'failed' as const },
    { status: 'completed' as const, model: 'sim/echo' },
  ]) {
    long.traces({ ...empty, ...filter, ...more });
    long.rejections({
      ...empty,
      ...filter,
      terms: [],
      minTotalMs: undefined,
      workspaceIds: [workspace, null],
    });
  }
  long.responses({ workspaceId: workspace, at: Date.now(), after: undefined, limit: 20 });
  database.close();
  expect([...scans]).toEqual([]);
});

const empty = {
  after: undefined,
  model: undefined,
  provider: undefined,
  keyId: undefined,
  status: undefined,
};
