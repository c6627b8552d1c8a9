import { describe, expect, test } from 'vitest';
import type { HoldRecord, Settlement } from '../../../../../src/daemon/features/metering/index.ts';
import { createAdmission } from '../../../../../src/daemon/features/metering/index.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';

describe('a settlement that cannot be written', () => {
  const full = () => Promise.reject(new ApiError('unavailable', { message: 'The disk is full.' }));
  const settlement = (requestId: string) => ({ usage: { requestId } }) as Settlement;
  const record = (requestId: string) => ({ requestId }) as HoldRecord;

  /** An admission whose store fails on request. */
  function admissionOver(settle: () => Promise<number>) {
    const tried: string[] = [];
    const store = {
      hold: async () => {},
      settle: (made: Settlement) => {
        tried.push(made.usage.requestId);
        return settle();
      },
    };
    const admission = createAdmission({ store, state: () => ({ writable: true, reason: undefined }) });
    return { admission, tried };
  }

  test('is reported, and retried when the ledger is writable again', async () => {
    let isFull = true;
    const { admission, tried } = admissionOver(() => (isFull ? full() : Promise.resolve(1)));
    const first = await admission.hold(record('req_1'));
    await expect(admission.settle(first, settlement('req_1'))).rejects.toMatchObject({ code: 'unavailable' });
    isFull = false;
    const second = await admission.hold(record('req_2'));
    await second.committed;
    const third = await admission.hold(record('req_3'));
    await third.committed;
    expect(tried).toEqual(['req_1', 'req_1']);
  });

  test('is written once, whoever settles the hold again', async () => {
    let isFull = true;
    const { admission, tried } = admissionOver(() => (isFull ? full() : Promise.resolve(1)));
    const hold = await admission.hold(record('req_1'));
    await admission.settle(hold, settlement('req_1')).catch(() => {});
    await expect(admission.settle(hold, settlement('req_1'))).rejects.toThrow(TypeError);
    isFull = false;
    await (await admission.hold(record('req_2'))).committed;
    await expect(admission.settle(hold, settlement('req_1'))).rejects.toThrow(TypeError);
    expect(tried).toEqual(['req_1', 'req_1']);
  });

  test('is not retried when that cannot help', async () => {
    const { admission, tried } = admissionOver(() => Promise.reject(new Error('a fault')));
    const hold = await admission.hold(record('req_1'));
    await expect(admission.settle(hold, settlement('req_1'))).rejects.toThrow('a fault');
    await (await admission.hold(record('req_2'))).committed;
    expect(tried).toEqual(['req_1']);
  });
});
