import { once } from 'node:events';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BudgetRules } from '../../../../src/daemon/features/metering/index.ts';
import { LeaseDesk } from '../../../../src/daemon/features/metering/lease-desk.ts';
import type { ToAuthority } from '../../../../src/daemon/features/metering/leases/messages.ts';
import type { KeyLimits, KeyPolicy } from '../../../../src/daemon/handler.ts';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { addUsers, aKey, morning } from '../../../storage/records.ts';
import type { Order } from './admitting-thread.ts';
import { openTemporarily } from './temporary.ts';

const threadCount = 4;
const { open, newFolder, cleanUp } = openTemporarily();
const policies = new Map<string, KeyPolicy>();
const threads: Worker[] = [];
let storage: SqliteStorage;

beforeAll(async () => {
  const folder = newFolder();
  storage = await open({ folder });
  await addUsers(storage);
  const desk = new LeaseDesk<number>({
    ledger: storage.ledger,
    clock: { now: () => morning, elapsed: () => performance.now() },
    rules: new BudgetRules(),
    patienceMs: Number.POSITIVE_INFINITY,
    async keyOf(keyId) {
      const policy = policies.get(keyId);
      return policy && { workspaceId: 'ws_1', policy };
    },
  });
  for (let index = 0; index < threadCount; index += 1) {
    const port = storage.connect();
    const { port1, port2: leases } = new MessageChannel();
    const data = { file: join(folder, 'gateway.db'), port, leases, name: String(index), now: morning };
    const script = new URL('./admitting-thread.ts', import.meta.url);
    const thread = new Worker(script, { workerData: data, transferList: [port, leases] });
    port1.on('message', (messages: ToAuthority[]) => {
      for (const message of messages) desk.authority.receive(index, message);
    });
    desk.authority.join(index, (message) => port1.postMessage(message));
    threads.push(thread);
  }
  await Promise.all(threads.map((thread) => once(thread, 'message')));
}, 120_000);

afterAll(async () => {
  const ends = threads.map((thread) => once(thread, 'exit'));
  for (const thread of threads) thread.postMessage('end');
  await Promise.all(ends);
  await cleanUp();
});

async function keyWith(keyId: string, limits: Partial<KeyLimits>): Promise<KeyPolicy> {
  const all: KeyLimits = {
    spendCap: null,
    maxPrice: null,
    models: null,
    requestsPerMinute: null,
    expiresAt: null,
    ...limits,
  };
  const policy = { keyId, parent: undefined, models: null, actions: null, limits: all, defaults: null };
  await storage.keys.insert(aKey(keyId));
  policies.set(keyId, { ...policy, isRestricted: true });
  return { ...policy, isRestricted: true };
}

/** Has all threads make as many calls at the same time; returns how many of all were admitted, and why others were not. */
async function all(order: Order) {
  const answers = threads.map((thread) => once(thread, 'message'));
  for (const thread of threads) thread.postMessage(order);
  const outcomes: string[] = (await Promise.all(answers)).flatMap(([given]) => given);
  const refusals = outcomes.filter((outcome) => outcome !== 'admitted');
  return { admitted: outcomes.length - refusals.length, refusals: [...new Set(refusals)] };
}

test('four threads admit exactly 20 of 400 calls of a key whose cap is for 20', async () => {
  const policy = await keyWith('key_cap', { spendCap: { amount: 20_000, period: 'day' } });
  const order = { calls: 100, policy, amount: 1000, charged: 1000 };
  expect(await all(order)).toEqual({ admitted: 20, refusals: ['limit_reached'] });
  expect(await all(order)).toEqual({ admitted: 0, refusals: ['limit_reached'] });
  const { spend } = await storage.ledger.keyFacts('key_cap', { at: morning, since: morning, except: [] });
  expect(spend.day).toBe(20_000);
});

test('four threads admit again what calls held and did not cost', async () => {
  const policy = await keyWith('key_rest', { spendCap: { amount: 20_000, period: 'total' } });
  let admitted = 0;
  for (let round = 0; round < 20; round += 1) {
    ({ admitted } = await all({ calls: 25, policy, amount: 1000, charged: 300 }));
    if (admitted === 0) break;
  }
  const { spend } = await storage.ledger.keyFacts('key_rest', { at: morning, since: morning, except: [] });
  expect(spend.total).toBeGreaterThan(19_000);
  expect(spend.total).toBeLessThanOrEqual(20_000);
});

test('four threads admit exactly 30 of 400 requests of a key that may make 30 per minute', async () => {
  const policy = await keyWith('key_rate', { requestsPerMinute: 30 });
  const order = { calls: 100, policy, amount: 1000, charged: undefined };
  expect(await all(order)).toEqual({ admitted: 30, refusals: ['limit_reached'] });
});
