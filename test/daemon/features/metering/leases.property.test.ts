import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { QuotaTerms } from '../../../../src/daemon/features/metering/leases/quota.ts';
import { LeaseSimulation, type PlannedCall, type SeenCall } from '../../../support/lease-simulation.ts';

// Schedules shrink for minutes, and time limits do not end that.
const runs = { numRuns: 300, endOnFailure: true };
const minuteMs = 60_000;
const dayMs = 86_400_000;
const subjects = ['key:child', 'key:parent', 'balance:team'] as const;

const membersOf = fc.integer({ min: 1, max: 4 });
const aCall = (members: number): fc.Arbitrary<PlannedCall> =>
  fc.record({
    by: fc.nat({ max: members - 1 }),
    // In different orders, as members must not wait for each other.
    money: fc.shuffledSubarray([...subjects], { minLength: 1 }),
    amount: fc.integer({ min: 1, max: 50 }),
    chargedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    canShrink: fc.boolean(),
    lasts: fc.boolean(),
  });

const limited = (limit: number, span: QuotaTerms['span'] = 'none'): QuotaTerms => ({ limit, span, spent: 0 });

/** Limits between a part of a call and many of them. */
const limits = fc
  .tuple(...subjects.map(() => fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constant(100_000))))
  .map((amounts) =>
    Object.fromEntries(amounts.map((limit, index) => [subjects[index] ?? '', limited(limit)])),
  );

const aScene = membersOf.chain((members) =>
  fc.record({
    members: fc.constant(members),
    terms: limits,
    calls: fc.array(aCall(members), { maxLength: 20 }),
    scheduler: fc.scheduler(),
  }),
);

const isAdmitted = ({ outcome }: SeenCall) => outcome !== undefined && 'taken' in outcome;

describe('calls of several members, in any order of messages, commits and ends', () => {
  test('keep all limits, are all decided, and are refused only if their limits cannot pay for them', async () => {
    await fc.assert(
      fc.asyncProperty(aScene, async ({ scheduler, members, terms, calls }) => {
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) scene.start(call);
        for (const { lease } of scene.members) scene.at('tidy', () => lease.tidy());
        await scene.settle();
        for (const { call, outcome, leastFree } of scene.seen) {
          if (outcome === undefined)
            throw new Error('a call still waits, although all members have answered');
          if ('taken' in outcome) continue;
          expect(call.money.some((subject) => call.amount > (leastFree?.get(subject) ?? 0))).toBe(true);
        }
        for (const subject of subjects) {
          expect(scene.charged.get(subject) ?? 0).toBeLessThanOrEqual(terms[subject]?.limit ?? 0);
        }
      }),
      runs,
    );
  });

  test('are decided as in one process when each is decided before the next comes', async () => {
    await fc.assert(
      fc.asyncProperty(aScene, async ({ scheduler, members, terms, calls }) => {
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) {
          const known = new Map(subjects.map((subject) => [subject, scene.trulyFree(subject)]));
          const free = (subject: (typeof subjects)[number]) =>
            scene.authority.factsOf(subject) ? (known.get(subject) ?? 0) : (terms[subject]?.limit ?? 0);
          const affordable = Math.min(...call.money.map((subject) => free(subject as never)));
          scene.start(call);
          await scene.settle();
          const taken = Math.min(call.amount, affordable);
          const isPossible = affordable >= call.amount || (call.canShrink && affordable > 0);
          expect(scene.seen.at(-1)).toMatchObject(
            isPossible ? { amount: taken } : { outcome: { shortage: { affordable } } },
          );
        }
      }),
      runs,
    );
  });

  test('are never refused while the limits suffice for all', async () => {
    await fc.assert(
      fc.asyncProperty(aScene, async ({ scheduler, members, calls }) => {
        const all = limited(calls.reduce((sum, { amount }) => sum + amount, 0));
        const terms = Object.fromEntries(subjects.map((subject) => [subject, all]));
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) scene.start(call);
        await scene.settle();
        expect(scene.seen.every(isAdmitted)).toBe(true);
        expect(scene.seen.every(({ call, amount }) => amount === call.amount)).toBe(true);
      }),
      runs,
    );
  });

  test('take exactly what a cap for some of many equal calls allows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), membersOf, fc.nat({ max: 12 }), async (scheduler, members, count) => {
        const terms = { key: limited(count * 10 + 9), rate: limited(1_000, 'minute') };
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (let index = 0; index < 40; index += 1) {
          const by = index % members;
          scene.start({ by, money: ['key'], requests: ['rate'], amount: 10, chargedShare: 1, lasts: true });
        }
        await scene.settle();
        expect(scene.seen.filter(isAdmitted)).toHaveLength(count);
      }),
      { numRuns: 100 },
    );
  });
});

describe('members that die, or freeze until others take over', () => {
  const aFall = membersOf.chain((members) =>
    fc.record({
      members: fc.constant(members),
      terms: limits,
      calls: fc.array(aCall(members), { maxLength: 20 }),
      falls: fc.subarray(Array.from({ length: members }, (_, index) => index)),
      scheduler: fc.scheduler(),
    }),
  );

  test('spend no more than their leases, and what they did not use returns', async () => {
    await fc.assert(
      fc.asyncProperty(aFall, async ({ scheduler, members, terms, calls, falls }) => {
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) scene.start(call);
        for (const index of falls) scene.at('takeover', () => scene.takeOver(index));
        await scene.settle();
        for (const { lease, isFenced } of scene.members) if (!isFenced) scene.at('tidy', () => lease.tidy());
        await scene.settle();
        for (const subject of subjects) {
          const facts = scene.authority.factsOf(subject);
          const charged = scene.charged.get(subject) ?? 0;
          expect(charged).toBeLessThanOrEqual(terms[subject]?.limit ?? 0);
          if (facts) expect(facts.spent).toBe(charged);
        }
        for (const { call, outcome } of scene.seen) {
          if (!scene.members[call.by]?.isFenced) expect(outcome).toBeDefined();
        }
        if (falls.length === members)
          for (const subject of subjects) expect(scene.authority.factsOf(subject)?.out ?? 0).toBe(0);
      }),
      runs,
    );
  });

  test('are waited for no longer than the patience of the authority', async () => {
    const [scene] = fc.sample(
      fc
        .scheduler()
        .map((scheduler) => new LeaseSimulation(scheduler, { members: 2, terms: { key: limited(100) } })),
      1,
    );
    if (!scene) throw new TypeError('there is no scene');
    scene.start({ by: 0, money: ['key'], amount: 60, chargedShare: 0 });
    await scene.settle();
    // It has 60 that no call uses, and answers nothing.
    if (scene.members[0]) scene.members[0].up.isFrozen = true;
    scene.start({ by: 1, money: ['key'], amount: 50, chargedShare: 0 });
    await scene.settle();
    expect(scene.seen[1]?.outcome).toBeUndefined();
    await scene.passPatience();
    expect(scene.seen[1]?.outcome).toMatchObject({ shortage: { subject: 'key', affordable: 40 } });
  });
});

describe('limits that change while calls run', () => {
  test('are never exceeded by more than what was out when they were lowered, and apply when raised', async () => {
    const changes = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(aScene, changes, async ({ scheduler, members, terms, calls }, amounts) => {
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) scene.start({ ...call, money: ['key:child'] });
        for (const limit of amounts) scene.setLimit('key:child', limit);
        await scene.settle();
        expect(scene.seen.every(({ outcome }) => outcome !== undefined)).toBe(true);
        const facts = scene.authority.factsOf('key:child');
        if (!facts) return;
        const rest = facts.limit - scene.trulyFree('key:child');
        void scene.authority.setLimit('key:child', rest + 10);
        scene.start({ by: 0, money: ['key:child'], amount: 10, chargedShare: 0 });
        await scene.settle();
        expect(scene.seen.at(-1)).toSatisfy(isAdmitted);
      }),
      runs,
    );
  });

  test('count calls that started before they were set, also after they were removed and set again', async () => {
    const aToggle = fc.integer({ min: 1, max: 5 });
    await fc.assert(
      fc.asyncProperty(aScene, aToggle, async ({ scheduler, members, terms, calls }, toggles) => {
        const changing = 'budget:changing';
        const all = { ...terms, [changing]: limited(120) };
        const scene = new LeaseSimulation(scheduler, { members, terms: all });
        for (const call of calls) scene.start({ ...call, changing });
        for (let count = 0; count < toggles; count += 1) scene.toggle(changing);
        await scene.settle();
        expect(scene.seen.every(({ outcome }) => outcome !== undefined)).toBe(true);
        if (!scene.isSet) scene.toggle(changing);
        await scene.settle();
        // It reads the limit if no call did.
        scene.start({ by: 0, money: [changing], amount: 1, chargedShare: 0 });
        await scene.settle();
        let [charged, held] = [0, 0];
        for (const { call, amount } of scene.seen.slice(0, -1)) {
          if (amount === undefined) continue;
          if (call.lasts) held += amount;
          else charged += Math.floor(amount * call.chargedShare);
        }
        expect(scene.authority.factsOf(changing)?.spent).toBe(charged);
        const isFree = charged + held < 120;
        expect(scene.seen.slice(-1).some(isAdmitted)).toBe(isFree);
      }),
      runs,
    );
  });

  test('start again with each period, and count what is held in both', async () => {
    await fc.assert(
      fc.asyncProperty(aScene, async ({ scheduler, members, calls }) => {
        const terms = { day: limited(100, 'day') };
        const scene = new LeaseSimulation(scheduler, { members, terms });
        for (const call of calls) scene.start({ ...call, money: ['day'] });
        scene.at('midnight', () => {
          scene.now += dayMs;
        });
        // A clock that is set back grants nothing.
        scene.at('clock', () => {
          scene.now -= 2 * dayMs;
        });
        await scene.settle();
        scene.now += 3 * dayMs;
        const running = scene.seen.reduce(
          (sum, { call, amount = 0 }) => (call.lasts ? sum + amount : sum),
          0,
        );
        if (running <= 90) {
          scene.start({ by: 0, money: ['day'], amount: 100 - running, chargedShare: 0 });
          await scene.settle();
          expect(scene.seen.at(-1)).toSatisfy(isAdmitted);
        }
      }),
      runs,
    );
  });
});

describe('requests per minute', () => {
  test('are within the limit in any minute, and all of it can be used', async () => {
    const steps = fc.array(fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(-1_000, -20_000, -59_999, -60_000)), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 12 }),
        steps,
        async (scheduler, limit, all) => {
          const terms = { rate: limited(limit, 'minute') };
          const scene = new LeaseSimulation(scheduler, { members: 4, terms });
          for (const step of all) {
            if (step < 0) scene.elapsed -= step;
            else
              scene.start({
                by: step,
                money: [],
                requests: ['rate'],
                amount: 0,
                chargedShare: 0,
                lasts: true,
              });
            if (step < 0) await scene.settle();
          }
          await scene.settle();
          const times = scene.seen.filter(isAdmitted).map(({ admittedAt }) => admittedAt ?? 0);
          for (const start of times) {
            const inMinute = times.filter((at) => at >= start && at < start + minuteMs);
            expect(inMinute.length).toBeLessThanOrEqual(limit);
          }
          scene.elapsed += minuteMs;
          for (let index = 0; index <= limit; index += 1) {
            scene.start({
              by: index % 4,
              money: [],
              requests: ['rate'],
              amount: 0,
              chargedShare: 0,
              lasts: true,
            });
          }
          await scene.settle();
          const last = scene.seen.slice(-limit - 1);
          expect(last.filter(isAdmitted)).toHaveLength(limit);
          const refused = last.find((seen) => !isAdmitted(seen))?.outcome;
          expect(refused).toMatchObject({ shortage: { subject: 'rate', waitMs: minuteMs } });
        },
      ),
      runs,
    );
  });
});
