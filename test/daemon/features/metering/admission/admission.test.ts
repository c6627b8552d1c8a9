import { describe, expect, test } from 'vitest';
import type {
  createAdmission,
  HoldRecord,
  Settlement,
} from '../../../../../src/daemon/features/metering/index.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { aHold, aSettlement } from '../../../../storage/records.ts';
import { admissionOver } from '../../../../support/admission-over.ts';
import { policyWith } from '../../../../support/shared-members.ts';

type Store = Parameters<typeof createAdmission>[0]['store'];
type Answer = Awaited<ReturnType<Store['admit']>>;

/** An admission whose store answers as a test says, with what it was asked and what it settled. */
function recorded({ store = {}, isWritable = true }: { store?: Partial<Store>; isWritable?: boolean } = {}) {
  const asked: HoldRecord[] = [];
  const settled: Settlement[] = [];
  const { admit } = store;
  const admission = admissionOver(
    {
      settle: async (settlement) => settled.push(settlement),
      settleWatched: async (settlement, watched) => ({
        sequence: settled.push(settlement),
        spent: watched.map(() => 0),
      }),
      ...store,
      ...(admit && {
        admit: (record, request) => {
          asked.push(record);
          return admit(record, request);
        },
      }),
    },
    { isWritable },
  );
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
    const { admission, asked } = recorded({ store: { admit: async () => lefts.shift() as Answer } });
    const hold = await admission.hold(aHold('req_1'), terms);
    expect(asked.map(({ amount }) => amount)).toEqual([5_000, 4_000, 3_000]);
    expect(hold.record.amount).toBe(3_000);
    await hold.committed;
    expect(admission.running()).toBe(1);
  });

  test('is refused once too little is left', async () => {
    const lefts = [short(4_000), short(99)];
    const { admission } = recorded({ store: { admit: async () => lefts.shift() as Answer } });
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
    const { admission, asked } = recorded({ store: { admit } });
    await expect(admission.hold(aHold('req_1'), terms)).rejects.toMatchObject({ code: 'limit_reached' });
    expect(asked).toHaveLength(8);
  });
});

test('a call without limits, or that costs nothing, asks nothing', async () => {
  const admit = () => Promise.reject(new Error('asked'));
  const { admission } = recorded({ store: { admit } });
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
  const { admission } = recorded({ isWritable: false });
  await expect(admission.hold(aHold('req_1'))).rejects.toMatchObject({ code: 'unavailable' });
});

test('a settlement says what was held, unless that could not be written', async () => {
  const { admission, settled } = recorded({});
  const held = await admission.hold(aHold('req_1'), terms);
  await admission.settle(held, aSettlement('req_1'));
  await expect(admission.settle(held, aSettlement('req_1'))).rejects.toThrow(TypeError);
  expect(settled).toMatchObject([{ held: { amount: 5_000 } }]);

  const failing = recorded({ store: { hold: () => Promise.reject(new ApiError('unavailable')) } });
  const lost = await failing.admission.hold(aHold('req_2'));
  await expect(lost.committed).rejects.toThrow(ApiError);
  expect(failing.admission.running()).toBe(0);
  await failing.admission.settle(lost, aSettlement('req_2'));
  expect(failing.settled[0]).not.toHaveProperty('held');
});

describe('a settlement that cannot be written', () => {
  /** An admission whose store fails on request, and the settlements that were tried. */
  function failing(fail: () => Error | undefined) {
    const tried: string[] = [];
    const settle = async ({ usage }: Settlement) => {
      tried.push(usage.requestId);
      const error = fail();
      if (error) throw error;
      return 1;
    };
    return { admission: admissionOver({ settle }), tried };
  }

  test('is reported, and retried after the next hold', async () => {
    let error: Error | undefined = new ApiError('unavailable');
    const { admission, tried } = failing(() => error);
    const first = await admission.hold(aHold('req_1'));
    await expect(admission.settle(first, aSettlement('req_1'))).rejects.toBe(error);
    error = undefined;
    await (await admission.hold(aHold('req_2'))).committed;
    await (await admission.hold(aHold('req_3'))).committed;
    expect(tried).toEqual(['req_1', 'req_1']);
    expect(admission.openRequests()).toEqual(new Set(['req_2', 'req_3']));
  });

  test('is written once, whoever settles the hold again', async () => {
    let error: Error | undefined = new ApiError('unavailable');
    const { admission, tried } = failing(() => error);
    const hold = await admission.hold(aHold('req_1'));
    await admission.settle(hold, aSettlement('req_1')).catch(() => {});
    await expect(admission.settle(hold, aSettlement('req_1'))).rejects.toThrow(TypeError);
    error = undefined;
    await (await admission.hold(aHold('req_2'))).committed;
    await expect(admission.settle(hold, aSettlement('req_1'))).rejects.toThrow(TypeError);
    expect(tried).toEqual(['req_1', 'req_1']);
  });

  test('is not retried when that cannot help', async () => {
    const { admission, tried } = failing(() => new Error('a fault'));
    const hold = await admission.hold(aHold('req_1'));
    await expect(admission.settle(hold, aSettlement('req_1'))).rejects.toThrow('a fault');
    await (await admission.hold(aHold('req_2'))).committed;
    expect(tried).toEqual(['req_1']);
  });
});
