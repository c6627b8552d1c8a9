import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createAdmission,
  type Hold,
  type LedgerStore,
} from '../../../../src/daemon/features/metering/index.ts';
import type { KeyLimits, KeyPolicy } from '../../../../src/daemon/handler.ts';
import type { ApiError } from '../../../../src/shared/errors.ts';
import { utcDay } from '../../../../src/shared/time.ts';
import { aHold, aSettlement, dayMs, morning } from '../../../storage/records.ts';

type Held = { -readonly [K in keyof KeyPolicy]: KeyPolicy[K] };

const noLimits: KeyLimits = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

/** One call as an outsider sees it. */
interface Seen {
  id: string;
  chain: string[];
  amount: number;
  charged: number | undefined;
  begunAt: number;
  /** Wall clock. */
  endedAt: number;
  isOnDisk: boolean;
}

/** An admission over a store that acknowledges in an order that the scheduler finds. */
class Place {
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
            spend: { total: sum(''), month: sum(day.slice(0, 7)), day: sum(day) },
            recent: calls.map(({ begunAt }) => begunAt).filter((time) => time >= since),
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
      limits: { ledger, clock: { now: () => this.now, elapsed: () => this.now - morning } },
    });
  }

  #onDisk(except: readonly string[]): Seen[] {
    return this.seen.filter(({ isOnDisk, id }) => isOnDisk && !except.includes(id));
  }

  async call(policy: Held, wish: { amount: number; charge: number; isPrepaid?: boolean }) {
    this.#count += 1;
    const id = `req_${this.#count}`;
    const { isPrepaid = false } = wish;
    const record = aHold(id, { keyId: policy.keyId, amount: wish.amount, createdAt: this.now });
    const hold = await this.admission.hold(record, {
      policy,
      isPrepaid,
      fit: (affordable) => (affordable >= wish.amount / 4 ? affordable : undefined),
    });
    const chain = policy.parent ? [policy.keyId, policy.parent.keyId] : [policy.keyId];
    const call: Seen = {
      id,
      chain,
      amount: hold.record.amount,
      charged: undefined,
      begunAt: this.now,
      endedAt: 0,
      isOnDisk: false,
    };
    this.seen.push(call);
    return { hold, call, charge: Math.min(wish.charge, hold.record.amount) };
  }

  settle({ hold, call, charge }: { hold: Hold; call: Seen; charge: number }): Promise<number> {
    call.charged = charge;
    call.endedAt = this.now;
    return this.admission.settle(hold, aSettlement(call.id, { charged: charge, completedAt: this.now }));
  }

  /** What counts against a cap now. */
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

const wishes = fc.array(
  fc.record({
    by: fc.constantFrom('parent' as const, 'child' as const),
    amount: fc.integer({ min: 1, max: 400 }),
    charge: fc.integer({ min: 0, max: 400 }),
    waits: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

test('spent and held together never pass a cap, in whatever order things happen', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      wishes,
      fc.integer({ min: 100, max: 2_000 }),
      fc.integer({ min: 100, max: 2_000 }),
      async (scheduler, calls, parentCap, childCap) => {
        const place = new Place(scheduler);
        place.parent.limits = { ...noLimits, spendCap: { amount: parentCap, period: 'total' } };
        place.child.limits = { ...noLimits, spendCap: { amount: childCap, period: 'day' } };
        const check = () => {
          expect(place.taken('key_parent', 'total')).toBeLessThanOrEqual(parentCap);
          expect(place.taken('key_child', 'day')).toBeLessThanOrEqual(childCap);
        };
        const runs = calls.map(async (wish) => {
          await scheduler.schedule(Promise.resolve(), 'arrives');
          const begun = await place.call(place[wish.by], wish).catch(refusals);
          check();
          if (!begun) return;
          if (wish.waits) await scheduler.schedule(Promise.resolve(), 'runs');
          await place.settle(begun);
          check();
        });
        await scheduler.waitFor(Promise.all(runs));
        // What is left can be spent to the last nano-dollar: nothing was counted twice.
        const left = Math.min(
          parentCap - place.taken('key_parent', 'total'),
          childCap - place.taken('key_child', 'day'),
        );
        if (left > 0) {
          const last = await scheduler.waitFor(place.call(place.child, { amount: left, charge: left }));
          expect(last.hold.record.amount).toBe(left);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('a cap that is set, changed or cleared counts for the next call, with all that was spent before', async () => {
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
      const place = new Place(scheduler);
      let version = 0;
      const runs: Promise<void>[] = [];
      for (const step of all) {
        if ('cap' in step) {
          version += 1;
          place.parent.limits =
            step.cap === null ? null : { ...noLimits, spendCap: { amount: step.cap, period: 'day' } };
        } else if ('isMidnight' in step) {
          version += 1;
          place.now += dayMs;
        } else {
          const asked = version;
          runs.push(
            (async () => {
              const begun = await place.call(place[step.by], step).catch(refusals);
              const cap = place.parent.limits?.spendCap?.amount;
              if (begun && cap !== undefined && asked === version) {
                expect(place.taken('key_parent', 'day')).toBeLessThanOrEqual(Math.max(cap, 0));
              }
              if (!begun) return;
              await scheduler.schedule(Promise.resolve(), 'runs');
              await place.settle(begun);
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

test('in any sixty seconds no more calls are accepted than the rate allows', async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 20, maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      gaps,
      fc.integer({ min: 1, max: 6 }),
      async (scheduler, waits, limit) => {
        const place = new Place(scheduler);
        place.parent.limits = { ...noLimits, requestsPerMinute: limit };
        const refused: { at: number; waitSeconds: number }[] = [];
        for (const [index, wait] of waits.entries()) {
          place.now += wait;
          const by = index % 3 === 0 ? place.child : place.parent;
          const run = place.call(by, { amount: 0, charge: 0 }).catch((error: ApiError) => {
            expect([error.code, error.param]).toEqual(['limit_reached', 'limits.requests_per_minute']);
            refused.push({ at: place.now, waitSeconds: error.retryAfterSeconds ?? 0 });
            return undefined;
          });
          const begun = await scheduler.waitFor(run);
          if (begun && index % 2 === 0) await scheduler.waitFor(place.settle(begun));
        }
        const times = place.seen.map(({ begunAt }) => begunAt);
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

test('a balance never goes below zero, and all of it can be spent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      wishes,
      fc.integer({ min: 0, max: 2_000 }),
      fc.integer({ min: 1, max: 500 }),
      async (scheduler, calls, granted, later) => {
        const place = new Place(scheduler, granted);
        const check = () => expect(place.taken(undefined, 'total')).toBeLessThanOrEqual(place.granted);
        const runs = calls.map(async (wish, index) => {
          await scheduler.schedule(Promise.resolve(), 'arrives');
          if (index === 4) {
            await place.admission.balanceOf('ws_1');
            await scheduler.schedule(Promise.resolve(), 'grant');
            place.granted += later;
            place.admission.credited('ws_1', later);
            return;
          }
          const begun = await place.call(place[wish.by], { ...wish, isPrepaid: true }).catch(refusals);
          check();
          if (!begun) return;
          if (wish.waits) await scheduler.schedule(Promise.resolve(), 'runs');
          await place.settle(begun);
          check();
        });
        await scheduler.waitFor(Promise.all(runs));
        const left = place.granted - place.taken(undefined, 'total');
        expect(await scheduler.waitFor(place.admission.balanceOf('ws_1'))).toBe(left);
      },
    ),
    { numRuns: 150 },
  );
});

test('limits that are set while calls run take in all of them, on disk or not, once', async () => {
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
      async (scheduler, wishes, more) => {
        const place = new Place(scheduler);
        const begun = await Promise.all(
          wishes.map(async ({ by, ends, ...wish }) => ({ ends, ...(await place.call(place[by], wish)) })),
        );
        const settle = (when: string) =>
          Promise.all(begun.filter(({ ends }) => ends === when).map((call) => place.settle(call)));
        await scheduler.waitFor(settle('first'));
        const acknowledged = settle('meanwhile');
        const cap = place.taken('key_parent', 'total') + more;
        place.parent.limits = {
          ...noLimits,
          spendCap: { amount: cap, period: 'total' },
          requestsPerMinute: begun.length + 1,
        };
        const wish = { amount: more + 1, charge: 0 };
        const asked = place.call(place.parent, wish).catch((error: ApiError) => error);
        const last = settle('last');
        const answer = await scheduler.waitFor(asked);
        await scheduler.waitFor(Promise.all([acknowledged, last]));
        // Those that ended while the book was read have given back what they did not use.
        const left = cap - place.taken('key_parent', 'total') + ('hold' in answer ? answer.call.amount : 0);
        if (left > more) expect(answer).toHaveProperty('hold');
        else if ('hold' in answer) expect(answer.call.amount).toBe(more);
        const next = await scheduler.waitFor(
          place.call(place.parent, { amount: 0, charge: 0 }).catch((error: ApiError) => error),
        );
        expect('hold' in next).toBe(!('hold' in answer));
      },
    ),
    { numRuns: 200 },
  );
});
