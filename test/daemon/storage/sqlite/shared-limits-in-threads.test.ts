import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyLimits, KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { addUsers, aKey, morning } from '../../../storage/records.ts';
import { policyWith } from '../../../support/shared-members.ts';
import type { Order } from './admitting-thread.ts';
import { openTemporarily } from './temporary.ts';

const threadCount = 3;
const { open, newFolder, cleanUp } = openTemporarily();
const threads: Worker[] = [];
let storage: SqliteStorage;

beforeAll(async () => {
  const folder = newFolder();
  storage = await open({ folder });
  await addUsers(storage);
  for (let index = 0; index < threadCount; index += 1) {
    const port = storage.connect();
    const data = { file: join(folder, 'gateway.db'), port, name: String(index), now: morning };
    const script = new URL('./admitting-thread.ts', import.meta.url);
    threads.push(new Worker(script, { workerData: data, transferList: [port] }));
  }
  await Promise.all(threads.map((thread) => once(thread, 'message')));
});

afterAll(async () => {
  const ends = threads.map((thread) => once(thread, 'exit'));
  for (const thread of threads) thread.postMessage('end');
  await Promise.all(ends);
  await cleanUp();
});

async function keyWith(keyId: string, limits: Partial<KeyLimits>): Promise<KeyPolicy> {
  await storage.keys.insert(aKey(keyId));
  return policyWith(keyId, limits);
}

/** Has all threads make as many calls at the same time; returns how many of all were admitted, and why others were not. */
async function all(order: Order) {
  const answers = threads.map((thread) => once(thread, 'message'));
  for (const thread of threads) thread.postMessage(order);
  const outcomes: string[] = (await Promise.all(answers)).flatMap(([given]) => given);
  const refusals = outcomes.filter((outcome) => outcome !== 'admitted');
  return { admitted: outcomes.length - refusals.length, refusals: [...new Set(refusals)] };
}

test('three threads admit exactly 20 of 402 calls of a key whose cap is for 20', async () => {
  const policy = await keyWith('key_cap', { spendCap: { amount: 20_000, period: 'day' } });
  const order = { calls: 134, policy, amount: 1000, charged: 1000 };
  expect(await all(order)).toEqual({ admitted: 20, refusals: ['limit_reached'] });
  expect(await all(order)).toEqual({ admitted: 0, refusals: ['limit_reached'] });
  const { spend } = await storage.ledger.keyUse('key_cap', { at: morning, since: morning });
  expect(spend.day).toBe(20_000);
});

test('three threads admit again what calls held and did not cost', async () => {
  const policy = await keyWith('key_rest', { spendCap: { amount: 20_000, period: 'total' } });
  for (let admitted = 1; admitted > 0; ) {
    ({ admitted } = await all({ calls: 30, policy, amount: 1000, charged: 300 }));
  }
  const { spend } = await storage.ledger.keyUse('key_rest', { at: morning, since: morning });
  expect(spend.total).toBeGreaterThan(19_000);
  expect(spend.total).toBeLessThanOrEqual(20_000);
});

test('three threads admit exactly 30 of 402 requests of a key that may make 30 per minute', async () => {
  const policy = await keyWith('key_rate', { requestsPerMinute: 30 });
  const order = { calls: 134, policy, amount: 1000, charged: undefined };
  expect(await all(order)).toEqual({ admitted: 30, refusals: ['limit_reached'] });
});
