import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Change, Topic } from '../../../../src/daemon/base/changes.ts';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { LocalChanges } from '../../../../src/daemon/storage/local-changes.ts';
import type { ControlConnection } from '../../../../src/daemon/storage/postgres/control-connection.ts';
import { DaemonChanges } from '../../../../src/daemon/storage/postgres/daemon-changes.ts';
import { connectionLost, PostgresError } from '../../../../src/daemon/storage/postgres/engine/errors.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { changingWrites } from '../../../storage/changing-writes.ts';
import { addUsers, morning } from '../../../storage/records.ts';
import { eventually } from '../../../support/eventually.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../../../support/postgres.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();

/** What the writes of topics leave, so that the next topic can use the same ids. */
const usedTables = [
  'autopilots',
  'budgets',
  'invitations',
  'keys',
  'logins',
  'paywalls',
  'peers',
  'provider_keys',
  'tokens',
  'vault_masters',
  'vault_secrets',
];

describe.skipIf(missing)(`changes of two daemons${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let url: string;
  let one: Storage;
  let other: Storage;
  const seen: Change[] = [];
  const seenByWriter: Change[] = [];

  const open = () => openPostgresStorage({ url, now: () => morning, log: recordingLog(), settledEvent });
  const query = async (sql: string) =>
    (await sharedPostgres()).query(`SET search_path TO gateway; ${sql}`, new URL(url).pathname.slice(1));
  const stored = async () => Number((await query('SELECT count(*) FROM changes'))[0]?.count);

  beforeAll(async () => {
    url = await newPostgresDatabase();
    one = await open();
    other = await open();
    await addUsers(one);
    for (const topic of Object.keys(changingWrites) as Topic[]) {
      one.changes.subscribe(topic, (change) => seenByWriter.push(change));
      other.changes.subscribe(topic, (change) => seen.push(change));
    }
    one.changes.subscribe('stop', (change) => seenByWriter.push(change));
    other.changes.subscribe('stop', (change) => seen.push(change));
  });

  afterAll(async () => {
    await other?.close();
    await one?.close();
  });

  const topics = Object.entries(changingWrites) as [string, (storage: Storage) => Promise<Change[]>][];
  test.each(topics)(
    'of the topic %s are applied by the other daemon, in order and once',
    async (topic, write) => {
      await query(`DELETE FROM ${usedTables.join('; DELETE FROM ')}`);
      seen.length = 0;
      seenByWriter.length = 0;
      const changes = await write(one);
      const ofTopic = (all: readonly Change[]) => all.filter((change) => change.topic === topic);
      expect(ofTopic(seenByWriter)).toEqual(changes);
      await eventually('the other daemon applies them', () => seen.length >= seenByWriter.length);
      expect(seen).toEqual(seenByWriter);
    },
  );

  test('that no write makes reach all daemons', async () => {
    seen.length = 0;
    seenByWriter.length = 0;
    const changes = [{ topic: 'stop', id: 'run_1' }] as const;
    await one.changes.announce(changes);
    expect(seenByWriter).toEqual(changes);
    await eventually('the other daemon applies it', () => seen.length > 0);
    expect(seen).toEqual(changes);
  });

  test('wake followers of the other daemon after any commit', async () => {
    let woken = 0;
    other.changes.subscribe('written', () => {
      woken += 1;
    });
    const before = woken;
    await one.workspaces.touchLogins([{ id: 'key_1', at: morning + 1 }]);
    await eventually('followers are woken', () => woken > before);
    expect([one.members.count(), other.members.count()]).toEqual([2, 2]);
  });

  test('are stored for an hour', async () => {
    await query('UPDATE changes SET at = at - 3700000');
    expect(await stored()).toBeGreaterThan(1);
    await one.changes.announce([{ topic: 'stop', id: 'run_2' }]);
    expect(await stored()).toBe(1);
  });

  test('that were not read for an hour end the daemon', async () => {
    const last = Promise.withResolvers<Error>();
    const third = await open();
    third.onFatal(last.resolve);
    await query('UPDATE changes SET number = number + 10');
    expect((await last.promise).message).toMatch(/has not read changes of others for an hour/);
    await third.close();
  });

  const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = 'gateway changes' AND datname = current_database()`;

  test('that were replaced by newer ones while the connection was lost do not end the daemon', async () => {
    await query('UPDATE changes SET at = at - 3700000');
    const applied: Change[] = [];
    const third = await open();
    third.changes.subscribe('stop', (change) => applied.push(change));
    await query(`INSERT INTO changes SELECT max(number) + 1, 1, '[{"topic":"stop","id":"run_3"}]', max(at) + 3700000 FROM changes;
      DELETE FROM changes WHERE number < (SELECT max(number) FROM changes);
      ${disconnect}`);
    await eventually('the change is applied', () => applied.length > 0);
    expect(applied).toEqual([{ topic: 'stop', id: 'run_3' }]);
    await third.close();
  });

  test('that the server has lost end the daemon', async () => {
    const last = Promise.withResolvers<Error>();
    const third = await open();
    third.onFatal(last.resolve);
    // Another one has the number.
    await query(`UPDATE changes SET at = at - 1; ${disconnect}`);
    expect((await last.promise).message).toMatch(/has lost what it had committed/);
    await third.close();
  });
});

/** The changes that are read through a connection. */
const changesThrough = (connection: Pick<ControlConnection, 'connect' | 'query'>) =>
  DaemonChanges.open({
    connection: { close: () => {}, ...connection } as ControlConnection,
    daemon: 1,
    local: new LocalChanges(),
    onCount: () => {},
    store: async () => {},
    log: recordingLog(),
    onFatal: () => {},
  });

test('what is kept in memory answers for a second after the last poll', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = { answers: true };
  const changes = await changesThrough({
    connect: async () => {},
    query: () => (server.answers ? Promise.resolve([]) : new Promise(() => {})),
  });
  server.answers = false;
  await vi.advanceTimersByTimeAsync(999);
  expect(changes.current()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  const refused = expect(changes.current()).rejects.toMatchObject({ code: 'unavailable' });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
  changes.close();
});

describe('a connection that is lost at the start', () => {
  /** Fails so many queries, as one does whose server does not answer in time. */
  const opened = async (failures: number) => {
    let [connects, queries] = [0, 0];
    const changes = await changesThrough({
      connect: async () => {
        connects += 1;
      },
      query: async () => {
        queries += 1;
        if (queries <= failures)
          throw new PostgresError({ code: connectionLost, message: 'the server does not answer' });
        return [];
      },
    });
    changes.close();
    return connects;
  };

  test('is opened again, but not for ever', async () => {
    expect(await opened(0)).toBe(1);
    expect(await opened(2)).toBe(3);
    await expect(opened(100)).rejects.toThrow('the server does not answer');
  });
});
