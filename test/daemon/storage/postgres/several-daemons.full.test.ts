import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { settledEvent, type UsageRecord } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { aHold, aSettlement, morning } from '../../../storage/records.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../../../support/postgres.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();
const opened: Storage[] = [];

const open = async (url: string): Promise<Storage> => {
  const storage = await openPostgresStorage({ url, now: () => morning, log: recordingLog(), settledEvent });
  opened.push(storage);
  return storage;
};
const closeAll = async () => {
  for (const storage of opened.splice(0)) await storage.close();
};
const query = async (url: string, sql: string) =>
  (await sharedPostgres()).query(sql, new URL(url).pathname.slice(1));

/** What daemons write, by number of the operation, so that two databases get the same. */
type Operation = (storage: Storage, number: number) => Promise<unknown>;

const named = (kind: string, number: number) => `${kind}_${number % 5}`;
const settle = (storage: Storage, number: number, changes: Partial<UsageRecord> = {}) =>
  storage.metering.settle(
    aSettlement(`req_${number}`, {
      workspaceId: named('ws', number),
      keyId: named('key', number % 3),
      model: named('model', number),
      labels: {
        ...noLabels,
        client: named('client', number),
        user: named('user', number),
        tags: { team: named('t', number) },
      },
      createdAt: morning + number,
      completedAt: morning + number * 1000,
      ...changes,
    }),
  );

const operations: Record<string, Operation> = {
  call: async (storage, number) => {
    await storage.metering.hold(aHold(`req_${number}`));
    await settle(storage, number);
  },
  failed: (storage, number) => settle(storage, number, { status: 'failed', errorCode: 'upstream_failed' }),
  // More than are folded at once.
  burst: (storage, number) =>
    Promise.all(Array.from({ length: 300 }, (_, index) => settle(storage, number * 1000 + index))),
  event: (storage, number) =>
    storage.events.append({
      type: 'limit.warning',
      workspaceId: named('ws', number),
      at: morning + number,
      data: { number },
    }),
};

/** The rows of all tables, but for what says who wrote them and when they were committed together. */
async function rowsOf(url: string): Promise<Record<string, unknown[]>> {
  const tables = await query(
    url,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'gateway'
       AND tablename NOT IN ('migrations', 'daemons', 'ledger_chain', 'account_checkpoints') ORDER BY 1`,
  );
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const where =
      name === 'meta'
        ? "WHERE name NOT IN ('commits', 'last_daemon', 'checkpoint_link', 'clean_shutdown')"
        : '';
    const found = await query(url, `SELECT t::text AS row FROM gateway.${name} AS t ${where} ORDER BY 1`);
    rows[String(name)] = found.map(({ row }) => row);
  }
  return rows;
}

describe.skipIf(missing !== undefined)(
  `several daemons on one database${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    afterEach(closeAll);

    test('write together what one would write alone', async () => {
      const anOperation = fc.record({
        name: fc.constantFrom('call', 'failed', 'event'),
        by: fc.nat({ max: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(anOperation, { minLength: 4, maxLength: 8 }), async (all) => {
          const [together, apart] = [await newPostgresDatabase(), await newPostgresDatabase()];
          const members = [await open(together), await open(together), await open(together)];
          const alone = await open(apart);
          const bursts = [1, 0].map((by) => ({ name: 'burst', by }));
          for (const [number, { name, by }] of [...all, ...bursts, ...all].entries()) {
            await operations[name]?.(members[by] as Storage, number);
            await operations[name]?.(alone, number);
          }
          expect(await rowsOf(together)).toEqual(await rowsOf(apart));
          expect(await members[0]?.check()).toEqual({ ok: true, problems: [] });
          await closeAll();
        }),
        { numRuns: 1, endOnFailure: true },
      );
    });

    test('number calls and events without gaps, and link them in one chain, when they write at the same time', async () => {
      const url = await newPostgresDatabase();
      const members = [await open(url), await open(url), await open(url)];
      const names = ['call', 'event', 'call', 'failed'];
      const written = await Promise.all(
        Array.from({ length: 400 }, (_, number) =>
          operations[names[number % 4] as string]?.(members[number % 3] as Storage, number),
        ),
      );
      expect(written).toHaveLength(400);
      for (const member of members) expect(await member.check()).toEqual({ ok: true, problems: [] });
      const [numbers] = await query(
        url,
        `SELECT count(*)::int AS count, count(DISTINCT number)::int AS different, max(number)::int AS highest
         FROM (SELECT number FROM gateway.calls UNION ALL SELECT sequence FROM gateway.events) AS numbers`,
      );
      expect(numbers).toEqual({ count: 400, different: 400, highest: 400 });
      expect(new Set(members.map(({ daemons }) => daemons.own)).size).toBe(3);
    });

    test('give work that is done once to the one with the lowest number, and its work to another one when it stops', async () => {
      const url = await newPostgresDatabase();
      const [first, second] = [await open(url), await open(url)];
      expect([first.members.isLeader(), second.members.isLeader()]).toEqual([true, false]);
      expect(second.members.count()).toBe(2);
      await first.metering.hold(aHold('req_left'));
      await first.close();
      await new Promise<void>((resolve) =>
        second.members.onChange(() => {
          if (second.members.isLeader() && second.members.hasLeft()) resolve();
        }),
      );
      expect(await second.daemons.left()).toEqual([0, first.daemons.own]);
      expect((await second.metering.leftHolds(first.daemons.own)).map(({ requestId }) => requestId)).toEqual([
        'req_left',
      ]);
    });

    test('never get the number of an earlier one', async () => {
      const url = await newPostgresDatabase();
      const [first, second] = [await open(url), await open(url)];
      const gone = second.daemons.own;
      await second.close();
      await new Promise<void>((resolve) =>
        first.members.onChange(() => first.members.hasLeft() && resolve()),
      );
      for (const daemon of await first.daemons.left()) await first.daemons.remove(daemon);
      expect((await open(url)).daemons.own).toBe(gone + 1);
    });
  },
);
