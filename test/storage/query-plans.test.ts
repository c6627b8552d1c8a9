import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { UsageFilter } from '../../src/daemon/features/metering/store.ts';
import { type Connection, openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { longReads } from '../../src/daemon/storage/sqlite/long-reads.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { growingReads, unexpectedReads } from './query-plans.ts';
import { recordStatements } from './record-statements.ts';
import { dayMs, morning, noSearch } from './records.ts';

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
    for (const more of [
      { user: keyId },
      { client: 'sim' },
      { minTotalMs: 5_000 },
      { minCost: 1 },
      { tag: 'sim' },
    ])
      reads.searchTraces({
        workspaceId,
        provider: undefined,
        statuses: undefined,
        ...optional,
        ...noSearch,
        ...more,
        ...page,
      });
    for (const groupBy of [undefined, 'model', 'provider'] as const)
      reads.latency({ workspaceId, model: optional.model, provider: undefined, buckets, groupBy });
    reads.rejections({ workspaceIds: [workspaceId], ...optional, ...page });
    for (const more of [{}, { provider: 'sim' }, { status: 'failed' as const }])
      reads.traces({ workspaceId, provider: undefined, status: undefined, ...optional, ...more, ...page });
  }
  reads.served();
  reads.responses({ workspaceId, at: morning, after: undefined, limit: 10 });
}

test('statements of the ledger and of the reader and writer threads read no growing table from end to end', async () => {
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
    expect(unexpectedReads(database, statements)).toEqual([]);
    expect(growingReads(database, 'SELECT sum(c.charged) FROM calls AS c')).toHaveLength(1);
  } finally {
    database.close();
  }
});
