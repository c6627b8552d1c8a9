import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Connection, openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { tableNames } from '../../src/daemon/storage/sqlite/engine/integrity.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { startScript } from '../support/start-script.ts';
import { recordStatements } from './record-statements.ts';
import type { OpenStorage } from './records.ts';

interface GrowingRead {
  sql: string;
  /** A table that the statement reads from one end to the other; undefined if it sorts what it reads. */
  table: string | undefined;
}

/** Reads of a statement that take longer the more rows there are, by the plan of SQLite: of whole tables, and sorted ones. */
export function growingReads(database: Connection, sql: string): GrowingRead[] {
  if (!/^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|REPLACE)\b/i.test(sql)) return [];
  const tables = new Set(tableNames(database));
  const unquoted = sql.replaceAll(/'[^']*'/g, '');
  const named = Object.fromEntries(
    [...unquoted.matchAll(/[@:$](\w+)/g)].map(([, name = '']) => [name, null]),
  );
  const positional = [...unquoted.matchAll(/\?/g)].map(() => null);
  const steps = database
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...positional, ...(Object.keys(named).length > 0 ? [named] : []));
  return steps.flatMap(({ detail }): GrowingRead[] => {
    if (detail === 'USE TEMP B-TREE FOR ORDER BY') return [{ sql, table: undefined }];
    const [, name] = /^SCAN ("?[\w]+"?)/.exec(detail) ?? [];
    const table = name && tableOf(name.replaceAll('"', ''), sql, tables);
    return table === undefined || !tables.has(table) ? [] : [{ sql, table }];
  });
}

/** Plans name the alias of a table. */
function tableOf(name: string, sql: string, tables: ReadonlySet<string>): string {
  for (const [, table = ''] of sql.matchAll(new RegExp(`\\b(\\w+)"?\\s+(?:AS\\s+)?"?${name}\\b`, 'gi')))
    if (tables.has(table)) return table;
  return name;
}

/** Tables that may be read as a whole, and why they stay small. */
const smallTables = {
  alerts: 'a row per alert, all of which are evaluated',
  budgets: 'a row per budget, all of which are in memory',
  daemons: 'a row per daemon whose work is not finished',
  decision_calibrations: 'a row per model and type of decision',
  holds: 'a row per running call',
  peers: 'a row per peer, all of which are in memory',
  served_days: 'a few rows per day',
  vault_masters: 'a row per master key that was ever used',
  vault_secrets: 'a row per secret of the host',
  workspaces: 'listed as a whole',
};

/** Statements that may read a table that grows, or sort, and why that takes no longer then. */
const bounded: [sql: RegExp, reason: string][] = [
  [/ FROM accounts (GROUP BY 1|FULL JOIN account_checkpoints)/, 'a start compares all balances'],
  [/ ORDER BY number DESC LIMIT 1$/, 'reads one row, in the order of the table'],
  [/ where false$/, 'reads nothing'],
  [/FROM \(SELECT sequence, at FROM events ORDER BY sequence LIMIT @limit\)/, 'reads a page in order'],
  [/^INSERT INTO call_index /, 'sorts the calls of one fold'],
  [/WITH RECURSIVE tree .* SELECT created_at FROM calls/s, 'sorts the calls of the last minutes'],
  [/ FROM rejections\s+WHERE workspace_id IN/, 'only the latest rejections of each workspace are kept'],
  [/FROM background_responses\s+WHERE is_running = 1/, 'an index has only the running ones'],
  [/ from "background_responses" where \(?"background_responses"."is_running" = 1/, 'the same index'],
  [
    / from "idempotency_keys" where "idempotency_keys"."state" = 'running'/,
    'an index has only the running ones',
  ],
  [
    / in \(select "run_id" from "threads" where "threads"."run_id" is not null\)/,
    'an index has only the running ones',
  ],
  [/ from "payments" .*"payments"."state" = 'pending'/, 'an index has only the pending ones'],
  [/ from "paywalls" where .*"paywalls"."status" <> 'deleted'/, 'an index has only those that are served'],
  [
    / from "payment_challenges" .*"used_at" is null and /,
    'an index has only those that were not used; others expire',
  ],
  [
    / from "cached_answers" order by "cached_answers"."used_at" asc, "cached_answers"."created_at" asc limit/,
    'reads a page in order',
  ],
  [
    /^select count\(\*\), coalesce\(sum\("bytes"\), 0\) from "cached_answers"$/,
    'a start counts the cached answers',
  ],
  [/ from "users" order by "users"."number" asc limit/, 'reads one row, in the order of the table'],
  [/ from "wallets" (where|inner join "accounts") /, 'a node is compared with what all wallets hold'],
  [/ FROM response_items CROSS JOIN responses\s/, 'sorts the responses that contain one item'],
  [/WITH RECURSIVE recipients /, 'sorts a row per peer'],
  [/ from "shouts" where .* group by "shouts"."zone" \|\| ''/, 'sorts a row per zone'],
  [/ from "members" .*order by "members"."joined_at"/, 'sorts the memberships of one user or workspace'],
  [/FROM workspaces WHERE id = @workspaceId OR @workspaceId IS NULL/, 'lists all workspaces'],
  [/^SELECT id, createdAt, isRunning, body ->> /, 'sorts two pages'],
  [/from "holds" where "holds"."daemon" = \? order by/, 'a start reads the holds that were left'],
  [/^UPDATE keys SET owner_id = heir.user_id/, 'only when a user is deleted'],
  [/"(revoked_at|deleted_at)" = \? where .*"(owner_id|created_by)" = \?/, 'only when a user is deleted'],
  [/^SELECT number, text FROM names WHERE glob/, 'only when an end user is forgotten'],
  [/ FROM attempt_slots WHERE provider = @number OR /, 'only when an end user is forgotten'],
  [/ FROM events WHERE workspace_id = @workspaceId AND glob/, 'only when an end user is forgotten'],
  [
    /^delete from "login_codes" where "login_codes"."user_id" = \?$/,
    'codes are deleted once they have expired',
  ],
];

/** The reads of growing tables that have no reason on the lists. */
export function unexpectedReads(database: Connection, statements: Iterable<string>): GrowingRead[] {
  return [...statements].flatMap((sql) => growingReads(database, sql)).filter((read) => !isExpected(read));
}

/** Whether a read is on one of the lists. */
export function isExpected({ sql, table }: GrowingRead): boolean {
  return (table !== undefined && table in smallTables) || bounded.some(([pattern]) => pattern.test(sql));
}

/**
 * Runs tests of stores, and one that fails if a statement that they made a store prepare, in this thread or the writer thread,
 * reads more the longer the history is.
 */
export function withBoundedReads(contracts: readonly ((open: OpenStorage) => void)[]): void {
  const { open, newFolder, cleanUp } = openTemporarily();
  const statements = new Set<string>();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-statements-'));
  const file = join(folder, 'writer');
  writeFileSync(file, '');
  const startWriter = () => startScript('recording-writer', import.meta.url, { workerData: { file } });
  const startReader = (database: string) =>
    startScript('unhurried-reader', import.meta.url, { workerData: { file: database } });
  let stop: (() => void) | undefined;

  beforeAll(async () => {
    // The first one runs the migrations, whose statements may read everything.
    await open();
    await cleanUp();
    stop = recordStatements((sql) => statements.add(sql));
  });
  afterEach(cleanUp);
  afterAll(() => {
    stop?.();
    rmSync(folder, { recursive: true });
  });

  for (const contract of contracts) contract(() => open({ writerThread: startWriter(), startReader }));

  test('no statement of these stores reads a table that grows as a whole', async () => {
    stop?.();
    const written = readFileSync(file, 'utf8').trim().split('\n');
    const data = newFolder();
    await (await open({ folder: data })).close();
    const database = openForWriting(join(data, 'gateway.db'));
    try {
      // Creates the temporary tables of the writer thread.
      await createCommands(database).loadMore();
      const all = new Set([...statements, ...written.map((line) => JSON.parse(line) as string)]);
      expect(all.size).toBeGreaterThan(contracts.length);
      expect(unexpectedReads(database, all)).toEqual([]);
    } finally {
      database.close();
    }
  });
}
