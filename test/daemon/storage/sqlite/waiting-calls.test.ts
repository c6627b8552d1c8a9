import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { MemberChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import { addUsers, aKey } from '../../../storage/records.ts';
import { policyWith, sharedMembers } from '../../../support/shared-members.ts';
import { openTemporarily } from './temporary.ts';

const { open, newFolder, cleanUp } = openTemporarily();
const closers: (() => Promise<void>)[] = [];
let storage: SqliteStorage;
let members: ReturnType<typeof openSqliteMember>[];

beforeAll(async () => {
  const folder = newFolder();
  storage = await open({ folder });
  await addUsers(storage);
  members = Array.from({ length: 3 }, () => {
    const file = join(folder, 'gateway.db');
    const port = storage.connect();
    const member = openSqliteMember({ file, port, changes: new MemberChanges(async () => {}), settledEvent });
    closers.push(() => member.close());
    return member;
  });
});

afterAll(async () => {
  for (const close of closers) await close();
  await cleanUp();
});

const calls = 400;
const amount = 1_000;
const charge = 500;

/** Time stands still until `pass`, but for what a member does regularly. */
function aPatience() {
  const over = Promise.withResolvers<void>();
  const sleep = (ms: number) => (ms < 100 ? setImmediate() : over.promise);
  return { sleep, pass: over.resolve };
}

describe.each([
  ['one member', true],
  ['three members', false],
] as const)('400 calls at once at %s', (_name, isAlone) => {
  async function aKeyWithCap(keyId: string, cap: number) {
    await storage.keys.insert(aKey(keyId));
    const patience = aPatience();
    const shared = sharedMembers(isAlone ? [storage] : members, { sleep: patience.sleep });
    const policy = policyWith(keyId, { spendCap: { amount: cap, period: 'total' } });
    let count = 0;
    const hold = () => {
      count += 1;
      return shared.hold(policy, { amount, requestId: `req_${keyId}_${count}` });
    };
    return { ...patience, hold };
  }

  test('use the whole cap, and never more, as calls that cost less than they hold end', async () => {
    const { hold } = await aKeyWithCap(`key_short_${isAlone}`, 10_400);
    let held = 0;
    let spent = 0;
    let served = 0;
    const refused: { retryAfterSeconds: number | undefined }[] = [];
    const one = async () => {
      const call = await hold();
      held += amount;
      expect(held + spent).toBeLessThanOrEqual(10_400);
      await setImmediate();
      held -= amount;
      spent += charge;
      await call.settle(charge);
      served += 1;
    };
    const all = Array.from({ length: calls }, () => one().catch((error) => void refused.push(error)));
    // All that can be served are; what is left pays for no other.
    await Promise.all(all);
    expect({ served, refused: refused.length }).toEqual({ served: 19, refused: calls - 19 });
    expect(refused.every(({ retryAfterSeconds }) => retryAfterSeconds === undefined)).toBe(true);
  });

  test('are refused with Retry-After behind calls that go on', async () => {
    const { hold, pass } = await aKeyWithCap(`key_long_${isAlone}`, 10_400);
    const refused: unknown[] = [];
    const started = Array.from({ length: calls }, () => hold().catch((error) => void refused.push(error)));
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect(refused).toEqual([]);
    pass();
    const running = (await Promise.all(started)).filter((call) => call !== undefined);
    expect(running).toHaveLength(10);
    expect(refused).toHaveLength(calls - 10);
    for (const error of refused)
      expect(error).toMatchObject({ code: 'limit_reached', param: 'limits.spend_cap', retryAfterSeconds: 1 });
    await Promise.all(running.map((call) => call.settle(charge)));
  });
});
