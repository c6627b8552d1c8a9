import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  BudgetRules,
  createSharedAdmission,
  type HoldRecord,
  type Settlement,
} from '../../../../../src/daemon/features/metering/index.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { aHold, aSettlement, morning } from '../../../../storage/records.ts';
import { policyWith } from '../../../../support/shared-members.ts';

type Deps = Parameters<typeof createSharedAdmission>[0];
type Answer = Awaited<ReturnType<Deps['store']['admit']>>;

/** An admission over a store that answers as a test says. */
function admissionOver({
  store = {},
  isWritable = true,
}: {
  store?: Partial<Deps['store']>;
  isWritable?: boolean;
}) {
  const asked: HoldRecord[] = [];
  const settled: Settlement[] = [];
  const admission = createSharedAdmission({
    store: {
      hold: async () => {},
      settle: async (settlement) => settled.push(settlement),
      settleWatched: async (settlement, watched) => ({
        sequence: settled.push(settlement),
        spent: watched.map(() => 0),
      }),
      admit: async () => ({ kind: 'held' }),
      ...store,
      ...(store.admit && {
        admit: (record, request) => {
          asked.push(record);
          return (store.admit as Deps['store']['admit'])(record, request);
        },
      }),
    },
    ledger: { keyUse: () => Promise.reject(new Error('not asked')), balance: async () => 0 },
    state: () => ({ writable: isWritable, reason: 'the disk is full' }),
    clock: { now: () => morning, sleep: () => setImmediate() },
    rules: new BudgetRules(),
  });
  return { admission, asked, settled };
}

const policy = policyWith('key_1', { spendCap: { amount: 10_000, period: 'day' } });
const short = (affordable: number): Answer => ({
  kind: 'short',
  affordable,
  shortage: { kind: 'cap', keyId: 'key_1', spent: 10_000 - affordable, held: 0 },
});
const terms = {
  policy,
  isPrepaid: false,
  fit: (affordable: number) => (affordable < 100 ? undefined : affordable),
};

describe('a call that asks for more than is left', () => {
  test('asks for what is left, until no other call was faster', async () => {
    const lefts = [short(4_000), short(3_000), { kind: 'held' } as const];
    const { admission, asked } = admissionOver({ store: { admit: async () => lefts.shift() as Answer } });
    const hold = await admission.hold(aHold('req_1'), terms);
    expect(asked.map(({ amount }) => amount)).toEqual([5_000, 4_000, 3_000]);
    expect(hold.record.amount).toBe(3_000);
    await hold.committed;
    expect(admission.running()).toBe(1);
  });

  test('is refused once too little is left', async () => {
    const lefts = [short(4_000), short(99)];
    const { admission } = admissionOver({ store: { admit: async () => lefts.shift() as Answer } });
    await expect(admission.hold(aHold('req_1'), terms)).rejects.toMatchObject({
      code: 'limit_reached',
      param: 'limits.spend_cap',
      message: expect.stringContaining('$0.000009901 is spent'),
    });
    expect(admission.running()).toBe(0);
  });

  test('gives up if others are always faster', async () => {
    let left = 4_000;
    const admit = async () => {
      left -= 1;
      return short(left);
    };
    const { admission, asked } = admissionOver({ store: { admit } });
    await expect(admission.hold(aHold('req_1'), terms)).rejects.toMatchObject({ code: 'limit_reached' });
    expect(asked).toHaveLength(8);
  });
});

test('a call without limits, or that costs nothing, asks nothing', async () => {
  const admit = () => Promise.reject(new Error('asked'));
  const { admission } = admissionOver({ store: { admit } });
  await admission.hold(aHold('req_1'));
  await admission.hold(aHold('req_2'), { ...terms, policy: undefined });
  await admission.hold(aHold('req_3', { amount: 0 }), { ...terms, isPrepaid: true });
  expect(admission.openRequests()).toEqual(new Set(['req_1', 'req_2', 'req_3']));
  const rated = policyWith('key_2', { requestsPerMinute: 1 });
  await expect(admission.hold(aHold('req_4', { amount: 0 }), { ...terms, policy: rated })).rejects.toThrow(
    'asked',
  );
});

test('nothing is admitted while the ledger cannot be written', async () => {
  const { admission } = admissionOver({ isWritable: false });
  await expect(admission.hold(aHold('req_1'))).rejects.toMatchObject({ code: 'unavailable' });
});

test('a settlement says what was held, unless that could not be written', async () => {
  const { admission, settled } = admissionOver({});
  const held = await admission.hold(aHold('req_1'), terms);
  await admission.settle(held, aSettlement('req_1'));
  await expect(admission.settle(held, aSettlement('req_1'))).rejects.toThrow(TypeError);
  expect(settled).toMatchObject([{ held: { amount: 5_000 } }]);

  const failing = admissionOver({ store: { hold: () => Promise.reject(new ApiError('unavailable')) } });
  const lost = await failing.admission.hold(aHold('req_2'));
  await expect(lost.committed).rejects.toThrow(ApiError);
  expect(failing.admission.running()).toBe(0);
  await failing.admission.settle(lost, aSettlement('req_2'));
  expect(failing.settled[0]).not.toHaveProperty('held');
});

test('a settlement that cannot be written is retried after the next hold', async () => {
  const tried: string[] = [];
  let isFull = true;
  const settle = async ({ usage }: Settlement) => {
    tried.push(usage.requestId);
    if (isFull) throw new ApiError('unavailable');
    return 1;
  };
  const { admission } = admissionOver({ store: { settle } });
  const first = await admission.hold(aHold('req_1'));
  await expect(admission.settle(first, aSettlement('req_1'))).rejects.toMatchObject({ code: 'unavailable' });
  isFull = false;
  await (await admission.hold(aHold('req_2'))).committed;
  await (await admission.hold(aHold('req_3'))).committed;
  expect(tried).toEqual(['req_1', 'req_1']);
  expect(admission.openRequests()).toEqual(new Set(['req_2', 'req_3']));
});
