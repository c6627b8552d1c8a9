import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { MemberChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import { databaseFile } from '../../../../src/daemon/storage/sqlite/open.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import { addUsers, aKey, morning } from '../../../storage/records.ts';
import { addEmptyDatabase } from '../../../support/new-database.ts';
import { openTemporarily } from './temporary.ts';

const { newFolder, open, cleanUp } = openTemporarily();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await cleanUp();
});

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

const noLimits = { spendCap: null, maxPrice: null, models: null, requestsPerMinute: null };

/** A daemon of two threads with one clock, and a key of each age. */
async function openBoth() {
  let wall = morning;
  let elapsed = 0;
  const clock = { now: () => wall, elapsed: () => elapsed };
  const folder = newFolder();
  addEmptyDatabase(folder);
  const main = await open({ ...clock, folder });
  const { port1, port2 } = new MessageChannel();
  port1.close();
  port2.close();
  const changes = new MemberChanges(async () => {});
  const member = openSqliteMember({
    ...clock,
    file: databaseFile(folder),
    port: main.connect(),
    changes,
    settledEvent,
  });
  closers.push(() => member.close());
  await addUsers(main);
  const threads = { main, member };
  return {
    threads,
    pass: (ms: number) => {
      for (let left = ms; left > 0; left -= minuteMs) {
        wall += Math.min(left, minuteMs);
        elapsed += Math.min(left, minuteMs);
        main.passed.at();
      }
    },
    put: (ms: number) => {
      wall += ms;
    },
    /** What a thread does before a call of a caller, and until it is stored. */
    settle: async (name: keyof typeof threads) => {
      threads[name].passed.at();
      await threads[name].keys.touch([]);
      await new Promise((resolve) => setImmediate(resolve));
      return threads[name].passed.at() - wall;
    },
    addKey: async (id: string, inMs: number) => {
      const limits = { ...noLimits, expiresAt: wall + inMs };
      await main.keys.insert({ ...aKey(id), createdAt: wall, limits });
      return limits.expiresAt;
    },
    expiryOf: async (id: string) => (await main.keys.byId('ws_1', id))?.limits?.expiresAt,
    now: () => wall,
  };
}

for (const [name, backMs, lifeMs] of [
  ['90 seconds', 90 * secondMs, 40 * secondMs],
  ['ten minutes', 10 * minuteMs, 5 * minuteMs],
  ['13 hours', 13 * hourMs, hourMs],
] as const) {
  for (const first of ['main', 'member'] as const) {
    test(`threads end what had expired once, when the clock is set back by ${name}: first ${first}`, async () => {
      const { threads, pass, put, settle, addKey, expiryOf, now } = await openBoth();
      await addKey('key_old', 13.5 * hourMs);
      pass(13 * hourMs);
      await addKey('key_1', hourMs - lifeMs);
      pass(hourMs);
      threads.member.passed.at();
      await settle('main');
      // Not yet noted.
      pass(30 * secondMs);
      threads.member.passed.at();
      put(-backMs);
      expect(await settle(first)).toBe(0);
      const at = now();
      expect(await expiryOf('key_1')).toBeLessThanOrEqual(at);
      const made = await addKey('key_new', lifeMs);
      pass(20 * secondMs);
      expect(await settle(first === 'main' ? 'member' : 'main')).toBe(0);
      expect(await expiryOf('key_new')).toBe(made);
    });
  }
}
