import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyLimits, KeyPolicy } from '../../../../src/daemon/base/handler.ts';
import {
  createAdmission,
  type Hold,
  type LedgerStore,
} from '../../../../src/daemon/features/metering/index.ts';
import type { ApiError } from '../../../../src/shared/errors.ts';
import { utcDay } from '../../../../src/shared/time/time.ts';
import { aHold, aSettlement, dayMs, morning } from '../../../storage/records.ts';

type Held = { -readonly [K in keyof KeyPolicy]: KeyPolicy[K] };

const noLimits: KeyLimits = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

/** One call as observed from outside. */
interface Seen {
  id: string;
  chain: string[];
  amount: number;
  charged: number | undefined;
  startedAt: number;
  /** Wall clock. */
  endedAt: number;
  isOnDisk: boolean;
}

/** An admission over a store that acknowledges in the scheduler's order. */
class Scene {
  readonly seen: Seen[] = [];
  readonly parent: Held = {
    keyId: 'key_parent',
    parent: undefined,
    models: null,
    actions: null,
    limits: null,
    defaults: null,
    isRestricted: true,
  };
  readonly child: Held = {
    keyId: 'key_child',
    parent: this.parent,
    models: null,
    actions: null,
    limits: null,
    defaults: null,
    isRestricted: true,
  };
  granted: number;
  now = morning;
  readonly admission;
  #count = 0;

  constructor(scheduler: fc.Scheduler, granted = 0) {
    this.granted = granted;
    const ack = <T>(what: string, make: () => T): Promise<T> =>
      scheduler.schedule(Promise.resolve(), what).then(make);
    const ledger: Pick<LedgerStore, 'keyFacts' | 'balance'> = {
      keyFacts: (keyId, { at, since, except }) =>
        ack('read', () => {
          const calls = this.#onDisk(except).filter(({ chain }) => chain.includes(keyId));
          const sum = (prefix: string) =>
            calls
              .filter(({ endedAt }) => utcDay(endedAt).startsWith(prefix))
              .reduce((total, { charged }) => total + (charged ?? 0), 0);
          const day = utcDay(at);
          return {
            spend: { total: sum(''), month: sum(day.slice(0, 7)), week: 0, day: sum(day) },
            recent: calls.map(({ startedAt }) => startedAt).filter((time) => time >= since),
          };
        }),
      balance: (_workspace, { except }) =>
        ack('read', () =>
          this.#onDisk(except).reduce((left, { charged }) => left - (charged ?? 0), this.granted),
        ),
    };
    this.admission = createAdmission({
      store: {
        hold: () => ack('hold', () => undefined),
        settle: ({ usage }) =>
          ack('settle', () => {
            const call = this.seen.find(({ id }) => id === usage.requestId);
            if (call) call.isOnDisk = true;
            return 1;
          }),
      },
      state: () => ({ writable: true, reason: undefined }),
      limits: {
        ledger,
        clock: { now: () => this.now, elapsed: () => this.now - morning, sleep: async () => {} },
      },
    });
  }

  #onDisk(except: readonly string[]): Seen[] {
    return this.seen.filter(({ isOnDisk, id }) => isOnDisk && !except.includes(id));
  }

  async call(policy: Held, request: { amount: number; charge: number; isPrepaid?: boolean }) {
    this.#count += 1;
    const id = `req_${this.#count}`;
    const { isPrepaid = false } = request;
    const record = aHold(id, { keyId: policy.keyId, amount: request.amount, createdAt: this.now });
    const hold = await this.admission.hold(record, {
      policy,
      isPrepaid,
      fit: (affordable) => (affordable >= request.amount / 4 ? affordable : undefined),
    });
    const chain = policy.parent ? [policy.keyId, policy.parent.keyId] : [policy.keyId];
    const call: Seen = {
      id,
      chain,
      amount: hold.record.amount,
      charged: undefined,
      startedAt: this.now,
      endedAt: 0,
      isOnDisk: false,
    };
    this.seen.push(call);
    return { hold, call, charge: Math.min(request.charge, hold.record.amount) };
  }

  settle({ hold, call, charge }: { hold: Hold; call: Seen; charge: number }): Promise<number> {
    call.charged = charge;
    call.endedAt = this.now;
    return this.admission.settle(hold, aSettlement(call.id, { charged: charge, completedAt: this.now }));
  }

  /** The amount that counts against a cap now. */
  taken(keyId: string | undefined, period: 'day' | 'total'): number {
    return this.seen
      .filter(({ chain }) => keyId === undefined || chain.includes(keyId))
      .filter(
        ({ charged, endedAt }) =>
          period === 'total' || charged === undefined || utcDay(endedAt) === utcDay(this.now),
      )
      .reduce((sum, { amount, charged }) => sum + (charged ?? amount), 0);
  }
}

const refusals = (error: ApiError) => {
  expect(['limit_reached', 'insufficient_balance']).toContain(error.code);
  return undefined;
};

const requests = fc.array(
  fc.record({
    by: fc.constantFrom('parent' as const, 'child' as const),
    amount: fc.integer({ min: 1, max: 400 }),
    charge: fc.integer({ min: 0, max: 400 }),
    waits: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

test('spending and holds together never exceed a cap, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      requests,
      fc.integer({ min: 100, max: 2_000 }),
      fc.integer({ min: 100, max: 2_000 }),
      async (scheduler, calls, parentCap, childCap) => {
        const scene = new Scene(scheduler);
        scene.parent.limits = { ...noLimits, spendCap: { amount: parentCap, period: 'total' } };
        scene.child.limits = { ...noLimits, spendCap: { amount: childCap, period: 'day' } };
        const check = () => {
          expect(scene.taken('key_parent', 'total')).toBeLessThanOrEqual(parentCap);
          expect(scene.taken('key_child', 'day')).toBeLessThanOrEqual(childCap);
        };
        const runs = calls.map(async (request) => {
          await scheduler.schedule(Promise.resolve(), 'arrives');
          const started = await scene.call(scene[request.by], request).catch(refusals);
          check();
          if (!started) return;
          if (request.waits) await scheduler.schedule(Promise.resolve(), 'runs');
          await scene.settle(started);
          check();
        });
        await scheduler.waitFor(Promise.all(runs));
        // The rest can be spent to the last nano-dollar, so nothing was counted twice.
        const left = Math.min(
          parentCap - scene.taken('key_parent', 'total'),
          childCap - scene.taken('key_child', 'day'),
        );
        if (left > 0) {
          const last = await scheduler.waitFor(scene.call(scene.child, { amount: left, charge: left }));
          expect(last.hold.record.amount).toBe(left);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('a cap that is set, changed or cleared applies to the next call, with all earlier spending', async () => {
  const change = fc.option(fc.integer({ min: 0, max: 1_500 }), { freq: 3 });
  const steps = fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({
          amount: fc.integer({ min: 1, max: 300 }),
          charge: fc.integer({ min: 0, max: 300 }),
          by: fc.constantFrom('parent' as const, 'child' as const),
        }),
      },
      fc.record({ cap: change }),
      fc.constant({ isMidnight: true as const }),
    ),
    { minLength: 10, maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), steps, async (scheduler, all) => {
      const scene = new Scene(scheduler);
      let version = 0;
      const runs: Promise<void>[] = [];
      for (const step of all) {
        if ('cap' in step) {
          version += 1;
          scene.parent.limits =
            step.cap === null ? null : { ...noLimits, spendCap: { amount: step.cap, period: 'day' } };
        } else if ('isMidnight' in step) {
          version += 1;
          scene.now += dayMs;
        } else {
          const asked = version;
          runs.push(
            (async () => {
              const started = await scene.call(scene[step.by], step).catch(refusals);
              const cap = scene.parent.limits?.spendCap?.amount;
              if (started && cap !== undefined && asked === version) {
                expect(scene.taken('key_parent', 'day')).toBeLessThanOrEqual(Math.max(cap, 0));
              }
              if (!started) return;
              await scheduler.schedule(Promise.resolve(), 'runs');
              await scene.settle(started);
            })(),
          );
        }
        if (scheduler.count() > 0) await scheduler.waitOne();
      }
      await scheduler.waitFor(Promise.all(runs));
    }),
    { numRuns: 300 },
  );
});

test('no more calls are accepted in any 60 seconds than the rate allows', async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 20, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      gaps,
      fc.integer({ min: 1, max: 6 }),
      async (scheduler, waits, limit) => {
        const scene = new Scene(scheduler);
        scene.parent.limits = { ...noLimits, requestsPerMinute: limit };
        const refused: { at: number; waitSeconds: number }[] = [];
        for (const [index, wait] of waits.entries()) {
          scene.now += wait;
          const by = index % 3 === 0 ? scene.child : scene.parent;
          const run = scene.call(by, { amount: 0, charge: 0 }).catch((error: ApiError) => {
            expect([error.code, error.param]).toEqual(['limit_reached', 'limits.requests_per_minute']);
            refused.push({ at: scene.now, waitSeconds: error.retryAfterSeconds ?? 0 });
            return undefined;
          });
          const started = await scheduler.waitFor(run);
          if (started && index % 2 === 0) await scheduler.waitFor(scene.settle(started));
        }
        const times = scene.seen.map(({ startedAt }) => startedAt);
        const within = (from: number, to: number) => times.filter((time) => time > from && time <= to).length;
        for (const time of times) expect(within(time - 60_000, time)).toBeLessThanOrEqual(limit);
        for (const { at, waitSeconds } of refused) {
          expect(within(at - 60_000, at)).toBe(limit);
          expect(within(at + waitSeconds * 1000 - 60_000, at)).toBeLessThan(limit);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('a balance never becomes negative, and can be spent completely', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      requests,
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 1, max: 500 }),
      async (scheduler, calls, granted, later) => {
        const scene = new Scene(scheduler, granted);
        const check = () => expect(scene.taken(undefined, 'total')).toBeLessThanOrEqual(scene.granted);
        const runs = calls.map(async (request, index) => {
          await scheduler.schedule(Promise.resolve(), 'arrives');
          if (index === 4) {
            await scene.admission.balanceOf('ws_1');
            await scheduler.schedule(Promise.resolve(), 'grant');
            scene.granted += later;
            scene.admission.credited('ws_1', later);
            return;
          }
          const started = await scene
            .call(scene[request.by], { ...request, isPrepaid: true })
            .catch(refusals);
          check();
          if (!started) return;
          if (request.waits) await scheduler.schedule(Promise.resolve(), 'runs');
          await scene.settle(started);
          check();
        });
        await scheduler.waitFor(Promise.all(runs));
        const left = scene.granted - scene.taken(undefined, 'total');
        expect(await scheduler.waitFor(scene.admission.balanceOf('ws_1'))).toBe(left);
      },
    ),
    { numRuns: 150 },
  );
});

test('limits set while calls run count each of them once, on disk or not', async () => {
  const before = fc.array(
    fc.record({
      by: fc.constantFrom('parent' as const, 'child' as const),
      amount: fc.integer({ min: 1, max: 300 }),
      charge: fc.integer({ min: 0, max: 300 }),
      ends: fc.constantFrom('first' as const, 'meanwhile' as const, 'last' as const),
    }),
    { minLength: 1, maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      before,
      fc.integer({ min: 0, max: 600 }),
      async (scheduler, requests, more) => {
        const scene = new Scene(scheduler);
        const started = await Promise.all(
          requests.map(async ({ by, ends, ...request }) => ({
            ends,
            ...(await scene.call(scene[by], request)),
          })),
        );
        const settle = (when: string) =>
          Promise.all(started.filter(({ ends }) => ends === when).map((call) => scene.settle(call)));
        await scheduler.waitFor(settle('first'));
        const acknowledged = settle('meanwhile');
        const cap = scene.taken('key_parent', 'total') + more;
        scene.parent.limits = {
          ...noLimits,
          spendCap: { amount: cap, period: 'total' },
          requestsPerMinute: started.length + 1,
        };
        const request = { amount: more + 1, charge: 0 };
        const asked = scene.call(scene.parent, request).catch((error: ApiError) => error);
        const last = settle('last');
        const answer = await scheduler.waitFor(asked);
        await scheduler.waitFor(Promise.all([acknowledged, last]));
        // Calls that ended while the totals were loading have released what they did not use.
        const left = cap - scene.taken('key_parent', 'total') + ('hold' in answer ? answer.call.amount : 0);
        if (left > more) expect(answer).toHaveProperty('hold');
        else if ('hold' in answer) expect(answer.call.amount).toBe(more);
        const next = await scheduler.waitFor(
          scene.call(scene.parent, { amount: 0, charge: 0 }).catch((error: ApiError) => error),
        );
        expect('hold' in next).toBe(!('hold' in answer));
      },
    ),
    { numRuns: 200 },
  );
});
