import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import type { UsageFilter } from '../../src/daemon/features/metering/store.ts';
import type { Query } from '../../src/daemon/storage/postgres/migrate.ts';
import { type Connection, openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { longReads } from '../../src/daemon/storage/sqlite/long-reads.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { missingPostgres, newPostgresDatabase } from '../support/postgres.ts';
import { tableScans } from './postgres-plans.ts';
import { growingReads, isExpected, unexpectedReads } from './query-plans.ts';
import { recordStatements } from './record-statements.ts';
import { dayMs, having, morning, noSearch, without } from './records.ts';

const { open, newFolder, cleanUp } = openTemporarily();
afterEach(cleanUp);

/** Prepares the statements of the reader thread, which depend on what is asked for. */
function readEverything(database: Connection): void {
  const [workspaceId, keyId, model] = ['ws_1', 'key_1', 'sim/assistant'];
  database.exec(`INSERT INTO names (text) VALUES ('${workspaceId}'), ('${keyId}'), ('${model}'), ('sim')`);
  const reads = longReads(database);
  const filters = [{}, { keyId }, { model }, { keyId, model }];
  const page = { after: undefined, since: undefined, until: undefined, limit: 10 };
  for (const filter of filters) {
    const optional = { keyId: undefined, model: undefined, ...filter };
    const groupings = [
      ['day'],
      ['model'],
      ['key'],
      ['provider', 'status'],
      ['day', 'model'],
      ['day', 'key'],
      ['key', 'status'],
      ['client'],
      ['day', 'tag'],
    ];
    for (const groupBy of groupings as UsageFilter['groupBy'][])
      for (const until of [morning, morning + 400 * dayMs])
        for (const timeZone of ['UTC', 'Asia/Kathmandu'])
          reads.summarize({
            workspaceId,
            ...optional,
            groupBy,
            timeZone,
            since: morning - 40 * dayMs,
            until,
          });
    const buckets = [{ start: morning - 40 * dayMs, end: morning + 1 }];
    for (const groupBy of [undefined, 'model', 'key'] as const) {
      const more = { provider: undefined, status: undefined, buckets, groupBy, top: 3 };
      reads.series({ workspaceId, ...optional, ...more });
    }
    const key = keyId === undefined ? [] : [having('keyId', keyId)];
    const searches = [
      { ...noSearch, terms: key },
      { ...noSearch, terms: [...key, having('user', 'ann'), without('client', 'sim')] },
      { ...noSearch, terms: [...key, having('client', 'sim')] },
      { ...noSearch, terms: [...key, having('tag', 'sim')] },
      { ...noSearch, terms: [...key, having('model', 'sim/*')] },
      { ...noSearch, terms: key, minTotalMs: 5_000 },
      { ...noSearch, terms: key, minCost: 1 },
    ];
    for (const search of searches) {
      reads.searchTraces({ ...search, workspaceId, ...page });
      for (const sort of ['total_ms', 'cost'] as const)
        reads.sortedTraces({ ...search, workspaceId, ...page, sort });
      reads.traceFacets({ ...search, workspaceId, since: morning - 40 * dayMs, until: undefined });
      reads.matchingCalls({ ...search, workspaceId, ...page, requestIds: ['req_1'] });
      reads.countRejections({ ...search, workspaceIds: [workspaceId], ...page });
      reads.rejections({ ...search, workspaceIds: [workspaceId], ...page });
    }
    for (const groupBy of [undefined, 'model', 'provider'] as const)
      reads.latency({ workspaceId, model: optional.model, provider: undefined, buckets, groupBy });
    for (const more of [{}, { provider: 'sim' }, { status: 'failed' as const }])
      reads.traces({ workspaceId, provider: undefined, status: undefined, ...optional, ...more, ...page });
  }
  reads.served();
  const since = morning - dayMs;
  reads.attempts({ workspaceId, since, stripSince: since, callersFault: 'invalid_request' });
  reads.responses({ workspaceId, at: morning, after: undefined, limit: 10 });
}

/** Statements of the ledger and of the reader and writer threads. */
async function recordEverything(work: (database: Connection, statements: Set<string>) => unknown) {
  const folder = newFolder();
  await (await open({ folder })).close();
  const statements = new Set<string>();
  const stop = recordStatements((sql) => statements.add(sql));
  await open({ folder });
  const database = openForWriting(join(folder, 'gateway.db'));
  try {
    await createCommands(database).loadMore();
    readEverything(database);
    stop();
    await work(database, statements);
  } finally {
    database.close();
  }
}

test('statements of the ledger and of the reader and writer threads read no growing table from end to end', () =>
  recordEverything((database, statements) => {
    expect(unexpectedReads(database, statements)).toEqual([]);
    expect(growingReads(database, 'SELECT sum(c.charged) FROM calls AS c')).toHaveLength(1);
  }));

const missing = missingPostgres();
test.skipIf(missing)(`nor on PostgreSQL${missing ? ` (skipped: ${missing})` : ''}`, () =>
  recordEverything(async (database, statements) => {
    const client = new pg.Client({ connectionString: await newPostgresDatabase() });
    await client.connect();
    const query: Query = async (sql, params) => (await client.query(sql, params as unknown[])).rows;
    try {
      await query('SET search_path TO gateway');
      for (const sql of temporaryTables(database)) await query(sql);
      const scans = await tableScans(query, [...statements].filter(isShared));
      expect(scans.filter((scan) => !isExpected(scan))).toEqual([]);
      expect(await tableScans(query, ['SELECT sum(c.charged) FROM calls AS c'])).toHaveLength(1);
    } finally {
      await client.end();
    }
  }),
);

function temporaryTables(database: Connection): string[] {
  return database
    .prepare<[], string>("SELECT sql FROM sqlite_temp_schema WHERE type = 'table'")
    .pluck()
    .all()
    .map((sql) => sql.replace('CREATE TABLE', 'CREATE TEMP TABLE'));
}

/** Whether PostgreSQL runs a statement, too: not those about SQLite's files and schema. */
function isShared(sql: string): boolean {
  return !/sqlite_|pragma_|VACUUM/.test(sql);
}
