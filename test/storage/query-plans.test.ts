import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Connection, openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { longReads } from '../../src/daemon/storage/sqlite/long-reads.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { openTemporarily } from '../daemon/storage/sqlite/temporary.ts';
import { recordStatements, scansOf } from './query-plans.ts';
import { dayMs, morning } from './records.ts';

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
    for (const groupBy of ['day', 'model', 'key'] as const)
      for (const until of [morning, morning + 400 * dayMs])
        reads.summarize({ workspaceId, ...optional, groupBy, since: morning - 40 * dayMs, until });
    reads.rejections({ workspaceIds: [workspaceId], ...optional, ...page });
    for (const more of [{}, { provider: 'sim' }, { status: 'failed' as const }])
      reads.traces({ workspaceId, provider: undefined, status: undefined, ...optional, ...more, ...page });
  }
  reads.served();
  reads.responses({ workspaceId, at: morning, after: undefined, limit: 10 });
}

/** Tables that may be read as a whole, and why they stay small. */
const smallTables = {
  holds: 'a row per running call',
  served_days: 'a few rows per day',
  vault_masters: 'a row per master key that was ever used',
  vault_secrets: 'a row per secret of the host',
  workspaces: 'listed as a whole',
};

/** Statements that may read a table that grows, and why that takes no longer then. */
const bounded: [sql: RegExp, reason: string][] = [
  [/ FROM accounts (GROUP BY 1|FULL JOIN account_checkpoints)/, 'a start compares all balances'],
  [/ ORDER BY number DESC LIMIT 1$/, 'reads one row, in the order of the table'],
  [/FROM \(SELECT sequence, at FROM events ORDER BY sequence LIMIT @limit\)/, 'reads a page in order'],
  [/FROM background_responses\s+WHERE is_running = 1/, 'an index has only the running ones'],
];

test('statements of the ledger and of the reader and writer threads read no growing table from end to end', async () => {
  const folder = newFolder();
  await (await open({ folder })).close();
  const { statements, stop } = recordStatements();
  await open({ folder });
  const database = openForWriting(join(folder, 'gateway.db'));
  try {
    await createCommands(database).loadMore();
    readEverything(database);
    stop();
    const scans = [...statements].flatMap((sql) => scansOf(database, sql));
    expect(scans).not.toEqual([]);
    const unexpected = scans.filter(
      ({ table, sql }) => !(table in smallTables) && !bounded.some(([pattern]) => pattern.test(sql)),
    );
    expect(unexpected).toEqual([]);
    expect(scansOf(database, 'SELECT sum(c.charged) FROM calls AS c')).toHaveLength(1);
  } finally {
    database.close();
  }
});
