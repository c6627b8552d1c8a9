import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyLimits } from '../../../../src/daemon/base/handler.ts';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { rateWindowMs } from '../../../../src/daemon/features/metering/rules/rate-window.ts';
import { MemberChanges } from '../../../../src/daemon/storage/shared-changes.ts';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { openSqliteMember } from '../../../../src/daemon/storage/sqlite/open-member.ts';
import type { ApiError } from '../../../../src/shared/errors.ts';
import { utcDay } from '../../../../src/shared/time/time.ts';
import { addUsers, aKey, aSettlement, dayMs } from '../../../storage/records.ts';
import {
  type AdmittedCall,
  type LimitedPolicy,
  noLimits,
  policyWith,
  sharedMembers,
} from '../../../support/shared-members.ts';
import { openTemporarily } from './temporary.ts';

const memberCount = 3;
const { open, newFolder, cleanUp } = openTemporarily();
const closers: (() => Promise<void>)[] = [];
let storage: SqliteStorage;
let stores: ReturnType<typeof openSqliteMember>[];
let runs = 0;

beforeAll(async () => {
  const folder = newFolder();
  storage = await open({ folder });
  await addUsers(storage);
  stores = Array.from({ length: memberCount }, () => {
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

interface Seen {
  keyId: string;
  amount: number;
  charged: number | undefined;
  startedAt: number;
  endedAt: number;
  admitted: AdmittedCall;
}

interface Refused {
  key: LimitedPolicy;
  amount: number;
  param: string | null | undefined;
}

/** Calls of a key, of one that it issued, and of a third one, through all members. */
class Scene {
  readonly seen: Seen[] = [];
  readonly shared = sharedMembers(stores);
  readonly parent: LimitedPolicy;
  readonly keys: readonly LimitedPolicy[];

  constructor() {
    runs += 1;
    this.parent = policyWith(`key_${runs}_parent`);
    this.keys = [
      this.parent,
      policyWith(`key_${runs}_child`, {}, this.parent),
      policyWith(`key_${runs}_other`),
    ];
    // The days of other runs must not matter.
    this.shared.time.now += runs * 3 * dayMs;
  }

  async addKeys(): Promise<void> {
    for (const { keyId, parent } of this.keys) {
      await storage.keys.insert(aKey(keyId, { parentId: parent?.keyId ?? null }));
    }
  }

  async call(key: LimitedPolicy, amount: number): Promise<Seen | Refused> {
    const id = `req_${runs}_${this.seen.length}_${Math.random()}`;
    const startedAt = this.shared.time.now;
    try {
      const admitted = await this.shared.hold(key, { amount, requestId: id });
      const { amount: held } = admitted.hold.record;
      const seen = { keyId: key.keyId, amount: held, charged: undefined, startedAt, endedAt: 0, admitted };
      this.seen.push(seen);
      return seen;
    } catch (error) {
      const { code, param } = error as ApiError;
      expect(code).toBe('limit_reached');
      return { key, amount, param };
    }
  }

  /** `isByHeir`: the member died, and another one settles the call as the hold says. */
  async settle(call: Seen, charge: number, isByHeir: boolean): Promise<void> {
    const charged = Math.min(charge, call.amount);
    call.charged = charged;
    call.endedAt = this.shared.time.now;
    if (!isByHeir) {
      await call.admitted.settle(charged);
      return;
    }
    const { requestId, createdAt } = call.admitted.hold.record;
    const cost = { provider: charged, margin: 0, total: charged };
    const usage = { keyId: call.keyId, createdAt, completedAt: call.endedAt, charged, cost };
    await storage.metering.settle(aSettlement(requestId, usage));
  }

  /** What counts against the cap of a key now. */
  taken(key: LimitedPolicy): number {
    const today = utcDay(this.shared.time.now);
    const isTotal = key.limits?.spendCap?.period === 'total';
    return this.seen
      .filter(({ keyId }) => this.#line(keyId).includes(key))
      .filter(({ charged, endedAt }) => charged === undefined || isTotal || utcDay(endedAt) === today)
      .reduce((sum, { amount, charged }) => sum + (charged ?? amount), 0);
  }

  limit(of: number, limits: Partial<KeyLimits>): void {
    const key = this.keys[of] as LimitedPolicy;
    key.limits = { ...noLimits, ...key.limits, ...limits };
  }

  /** The calls that a key, and those that descend from it, started in the last minute. */
  started(key: LimitedPolicy): number {
    const since = this.shared.time.now - rateWindowMs;
    return this.seen.filter(({ keyId, startedAt }) => this.#line(keyId).includes(key) && startedAt > since)
      .length;
  }

  capped(): LimitedPolicy[] {
    return this.keys.filter(({ limits }) => limits?.spendCap);
  }

  #line(keyId: string): readonly unknown[] {
    const key = this.keys.find((each) => each.keyId === keyId);
    return [key, key?.parent];
  }
}

const keyIndex = fc.nat({ max: 2 });
interface Calls {
  calls: { key: number; amount: number }[];
  settles: { at: number; charge: number; isByHeir: boolean }[];
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      calls: fc.array(fc.record({ key: keyIndex, amount: fc.integer({ min: 1, max: 300 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      settles: fc.array(
        fc.record({ at: fc.nat(), charge: fc.integer({ min: 0, max: 300 }), isByHeir: fc.boolean() }),
        { maxLength: 6 },
      ),
    }),
  },
  fc.record({ rate: fc.option(fc.integer({ min: 1, max: 15 }), { freq: 4 }), of: keyIndex }),
  fc.record({ laterMs: fc.integer({ min: 0, max: 40_000 }) }),
  fc.record({
    cap: fc.option(fc.integer({ min: 0, max: 1_500 }), { freq: 4 }),
    period: fc.constantFrom('day' as const, 'total' as const),
    of: keyIndex,
  }),
  fc.constant('midnight' as const),
);

async function runCalls(scene: Scene, { calls, settles }: Calls): Promise<void> {
  const open = scene.seen.filter(({ charged }) => charged === undefined);
  const before = new Map(scene.capped().map((key) => [key, scene.taken(key)]));
  const admittedUnder = (key: LimitedPolicy, from: number) =>
    scene.seen
      .slice(from)
      .filter(({ keyId }) => keyId === key.keyId || (key === scene.parent && keyId !== scene.keys[2]?.keyId))
      .reduce((sum, { amount }) => sum + amount, 0);
  const from = scene.seen.length;
  const ends = settles.flatMap(({ at, charge, isByHeir }) => {
    const [call] = open.length === 0 ? [] : open.splice(at % open.length, 1);
    return call ? [() => scene.settle(call, charge, isByHeir)] : [];
  });
  const started = new Map(scene.keys.map((key) => [key, scene.started(key)]));
  const made = calls.map(
    ({ key, amount }) =>
      () =>
        scene.call(scene.keys[key] as LimitedPolicy, amount),
  );
  const [outcomes] = await Promise.all([
    Promise.all(made.map((make) => make())),
    Promise.all(ends.map((end) => end())),
  ]);
  for (const [key, taken] of before) {
    const cap = key.limits?.spendCap?.amount ?? 0;
    expect(scene.taken(key)).toBeLessThanOrEqual(Math.max(cap, taken));
  }
  for (const key of scene.keys) {
    const limit = key.limits?.requestsPerMinute;
    if (limit) expect(scene.started(key)).toBeLessThanOrEqual(Math.max(limit, started.get(key) ?? 0));
  }
  for (const { key, amount, param } of outcomes.filter((outcome) => 'param' in outcome)) {
    const limiting = [key, key.parent];
    if (param === 'limits.requests_per_minute') {
      const isUsed = scene.keys.some(
        (each) =>
          limiting.includes(each) && scene.started(each) >= (each.limits?.requestsPerMinute ?? Infinity),
      );
      expect(isUsed).toBe(true);
      continue;
    }
    // Settlements only release: at no time was less left of a limit than this.
    const lefts = scene
      .capped()
      .filter((each) => limiting.includes(each))
      .map(
        (each) => (each.limits?.spendCap?.amount ?? 0) - (before.get(each) ?? 0) - admittedUnder(each, from),
      );
    expect(amount).toBeGreaterThan(Math.min(...lefts));
  }
}

test('members never exceed a cap or a rate together, and refuse no call for which enough is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
      const scene = new Scene();
      await scene.addKeys();
      for (const each of steps) {
        if (each === 'midnight') scene.shared.time.now += dayMs;
        else if ('calls' in each) await runCalls(scene, each);
        else if ('laterMs' in each) scene.shared.time.now += each.laterMs;
        else if ('rate' in each) scene.limit(each.of, { requestsPerMinute: each.rate });
        else {
          const { cap, period, of } = each;
          scene.limit(of, { spendCap: cap === null ? null : { amount: cap, period } });
        }
      }
      // What is left can be spent to its end.
      for (const index of scene.keys.keys()) scene.limit(index, { requestsPerMinute: null });
      for (const key of scene.capped()) {
        const lefts = scene
          .capped()
          .filter((each) => each === key || each === key.parent)
          .map((each) => (each.limits?.spendCap?.amount ?? 0) - scene.taken(each));
        const left = Math.min(...lefts);
        if (left <= 0) continue;
        expect(await scene.call(key, left + 1)).toHaveProperty('param', 'limits.spend_cap');
        expect(await scene.call(key, left)).toMatchObject({ amount: left });
      }
    }),
    { numRuns: 25 },
  );
});
