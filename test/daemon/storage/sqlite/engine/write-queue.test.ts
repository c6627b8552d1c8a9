import { describe, expect, test, vi } from 'vitest';
import type { Operation } from '../../../../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { WriteQueue } from '../../../../../src/daemon/storage/sqlite/engine/write-queue.ts';

/** A queue whose batches the test inspects and completes. */
function watched(options?: { lingerMs: number; lingerMsMax?: number }) {
  const sent: Operation[][] = [];
  let wake: (() => void) | undefined;
  const queue = new WriteQueue((operations) => {
    sent.push(operations);
    wake?.();
  }, options);
  return {
    queue,
    names: () => sent.map((batch) => batch.map(([name]) => name)),
    /** Waits for the nth batch, counted from 1. */
    batch: async (number: number): Promise<Operation[]> => {
      while (sent.length < number) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return sent[number - 1] ?? [];
    },
    succeed: (...results: unknown[]) => queue.completeBatch({ results, failed: [] }),
  };
}

describe('a queue of writes', () => {
  test('sends writes of the same turn as one batch, and the next batch only after the answer', async () => {
    const { queue, batch, names, succeed } = watched();
    const first = [queue.add(['a', 1]), queue.add(['b', 2])];
    await batch(1);
    const later = queue.add(['c', 3]);
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    expect(names()).toEqual([['a', 'b']]);

    succeed('A', 'B');
    expect(await Promise.all(first)).toEqual(['A', 'B']);
    await batch(2);
    succeed('C');
    expect(await later).toBe('C');
  });

  test('rejects a batch that cannot be sent, and goes on with the next one', async () => {
    const sent: Operation[][] = [];
    const queue = new WriteQueue((operations) => {
      if (operations.some(([, data]) => data === 'unsendable')) throw new Error('it could not be cloned');
      sent.push(operations);
      queue.completeBatch({ results: operations.map(() => 'done'), failed: [] });
    });
    await expect(queue.add(['a', 'unsendable'])).rejects.toThrow('Cannot write');
    expect(await queue.add(['b', 1])).toBe('done');
    await queue.drained();
    expect(sent).toEqual([[['b', 1]]]);
  });

  test('keeps a lingering write for the next one, which replaces it', async () => {
    const { queue, batch, names, succeed } = watched({ lingerMs: 60_000 });
    const hold = queue.add(['hold', 1], { canLinger: true, replaceableAs: 'call' });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(names()).toEqual([]);
    const settled = queue.replace('call', ['settle', 2]);
    await batch(1);
    succeed('settled');
    expect(await settled).toBe('settled');
    await hold;
    expect(names()).toEqual([['settle']]);
  });

  test('leaves a lingering write out of the batches of others, so that it can still be replaced', async () => {
    const { queue, batch, names, succeed } = watched({ lingerMs: 60_000 });
    const hold = queue.add(['hold', 1], { canLinger: true, replaceableAs: 'call' });
    const other = queue.add(['other', 2]);
    await batch(1);
    const settled = queue.replace('call', ['settle', 3]);
    succeed('other');
    await batch(2);
    succeed('settled');

    expect(await Promise.all([hold, other, settled])).toEqual([undefined, 'other', 'settled']);
    expect(names()).toEqual([['other'], ['settle']]);
    expect(queue.size).toBe(0);
  });

  test('counts a lingering write as one that is not written yet', async () => {
    const { queue, batch, succeed } = watched();
    const hold = queue.add(['hold', 1], { canLinger: true });
    let isDrained = false;
    const drained = queue.drained().then(() => {
      isDrained = true;
    });
    await batch(1);
    expect([queue.size, isDrained]).toEqual([1, false]);
    succeed('held');
    await Promise.all([hold, drained]);
    expect(queue.size).toBe(0);
  });

  test('sends a lingering write alone if no other write arrives', async () => {
    const { queue, batch, succeed } = watched();
    const hold = queue.add(['hold', 1], { canLinger: true });
    await batch(1);
    succeed('held');
    expect(await hold).toBe('held');
  });

  test('a lingering write joins the batch of another one that comes later', async () => {
    const { queue, batch, names, succeed } = watched({ lingerMs: 0, lingerMsMax: 60_000 });
    const hold = queue.add(['hold', 1], { canLinger: true });
    const other = queue.add(['settle', 1]);
    await batch(1);
    succeed('settled', 'held');
    expect(await Promise.all([hold, other])).toEqual(['held', 'settled']);
    expect(names()).toEqual([['settle', 'hold']]);
  });

  test('sets no timer in the past for a write whose time ends while another one is sent', async () => {
    const { queue, batch, succeed } = watched({ lingerMs: 10, lingerMsMax: 10 });
    const timers: [end: () => void, ms: number | undefined][] = [];
    /** Reads these times, one after the other, during a synchronous step: other timers of this process are not concerned. */
    const at = <T>(times: number[], step: () => T): T => {
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 16);
      const setting = vi.spyOn(globalThis, 'setTimeout').mockImplementation((end, ms) => {
        timers.push([end, ms]);
        return {} as NodeJS.Timeout;
      });
      try {
        return step();
      } finally {
        clock.mockRestore();
        setting.mockRestore();
      }
    };
    const add = (name: string) => queue.add([name, 1], { canLinger: true });
    const holds = [at([0], () => add('one')), at([5], () => add('two'))];
    at([14.99, 15.03], () => timers[0]?.[0]());
    expect(timers.map(([, ms]) => ms)).toEqual([10, 0]);
    at([16], () => timers[1]?.[0]());
    await batch(1);
    succeed('held', 'held');
    expect(await Promise.all(holds)).toEqual(['held', 'held']);
  });

  test('sends at most 512 writes in a batch, in order', async () => {
    const { queue, batch, succeed } = watched();
    const all = Array.from({ length: 1000 }, (_, index) => queue.add(['write', index]));
    const first = await batch(1);
    expect(first.map(([, data]) => data)).toEqual(Array.from({ length: 512 }, (_, index) => index));
    succeed(...first.map(([, data]) => data));
    const second = await batch(2);
    succeed(...second.map(([, data]) => data));
    expect(await Promise.all(all)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  });

  test('limits bulk batches by size, and sends a larger row alone', async () => {
    const { queue, batch, succeed } = watched();
    const mebibyte = 1024 * 1024;
    const sizes = [0.4, 0.4, 0.4, 5, 0.1, ...Array(17).fill(undefined), 1, ...Array(100).fill(0.005)];
    const options = (size: number | undefined) =>
      ({ lane: 'bulk', ...(size !== undefined && { bytes: size * mebibyte }) }) as const;
    const writes = sizes.map((size, index) => queue.add(['large', index], options(size)));
    const sent: unknown[][] = [];
    for (let number = 1; sent.flat().length < sizes.length; number += 1) {
      const operations = await batch(number);
      sent.push(operations.map(([, data]) => data));
      succeed(...operations.map(([, data]) => data));
    }
    expect(await Promise.all(writes)).toEqual(sizes.map((_, index) => index));
    expect(sent.map((operations) => operations.length)).toEqual([2, 1, 1, 15, 3, 1, 100]);
  });

  test('keeps large rows out of money batches, and alternates between the lanes', async () => {
    const { queue, batch, succeed } = watched();
    const writes = [
      queue.add(['money', 1]),
      queue.add(['bulk', 1], { lane: 'bulk' }),
      queue.add(['money', 2]),
    ];
    expect((await batch(1)).map(([name]) => name)).toEqual(['money', 'money']);
    writes.push(queue.add(['money', 3]));
    succeed(1, 2);
    expect((await batch(2)).map(([name]) => name)).toEqual(['bulk']);
    succeed('b');
    expect((await batch(3)).map(([name]) => name)).toEqual(['money']);
    succeed(3);
    expect(await Promise.all(writes)).toEqual([1, 'b', 2, 3]);
  });

  test('rejects only the failed operations of a batch, and all of a failed batch', async () => {
    const { queue, batch } = watched();
    const [good, taken, broken] = [queue.add(['a', 1]), queue.add(['b', 2]), queue.add(['c', 3])];
    await batch(1);
    queue.completeBatch({
      results: ['A', undefined, undefined],
      failed: [
        { index: 1, code: 'SQLITE_CONSTRAINT_UNIQUE', message: 'UNIQUE constraint failed: keys.digest' },
        { index: 2, code: undefined, message: 'no' },
      ],
    });
    expect(await good).toBe('A');
    await expect(taken).rejects.toMatchObject({ code: 'conflict' });
    await expect(broken).rejects.toThrow('c: error: no');

    const lost = [queue.add(['d', 4]), queue.add(['e', 5])];
    await batch(2);
    queue.completeBatch({ failure: { kind: 'failed', code: 'SQLITE_BUSY', message: 'locked' } });
    for (const write of lost) await expect(write).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a write that replaces another', () => {
  const replaceable = (queue: WriteQueue) => queue.add(['hold', 1], { replaceableAs: 'req_1' });

  test('is sent alone, and both resolve', async () => {
    const { queue, batch, succeed } = watched();
    const held = replaceable(queue);
    const settled = queue.replace('req_1', ['settle', 2]);
    expect(await batch(1)).toEqual([['settle', 2]]);
    succeed(7);
    expect(await held).toBeUndefined();
    expect(await settled).toBe(7);
  });

  test('is refused once the other was sent', async () => {
    const { queue, batch, succeed } = watched();
    const held = replaceable(queue);
    await batch(1);
    expect(queue.replace('req_1', ['settle', 2])).toBeUndefined();
    succeed('held');
    expect(await held).toBe('held');
    expect(queue.replace('req_1', ['settle', 2])).toBeUndefined();
  });

  test('leaves the other to be written if it fails alone', async () => {
    const { queue, batch, succeed } = watched();
    const held = replaceable(queue);
    const settled = queue.replace('req_1', ['settle', 2]);
    await batch(1);
    queue.completeBatch({ results: [undefined], failed: [{ index: 0, code: undefined, message: 'no' }] });
    await expect(settled).rejects.toThrow('no');
    expect(await batch(2)).toEqual([['hold', 1]]);
    succeed('held');
    expect(await held).toBe('held');
  });

  test('fails together with the other when the batch fails', async () => {
    const { queue, batch } = watched();
    const held = replaceable(queue);
    const settled = queue.replace('req_1', ['settle', 2]);
    await batch(1);
    queue.completeBatch({ failure: { kind: 'full', code: 'SQLITE_FULL', message: 'full' } });
    await expect(held).rejects.toMatchObject({ code: 'unavailable' });
    await expect(settled).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('a queue is drained when its last batch completes', async () => {
  const { queue, batch, succeed } = watched();
  await queue.drained();
  const order: string[] = [];
  void queue.add(['a', 1]).then(() => order.push('written'));
  const drained = queue.drained().then(() => order.push('drained'));
  await batch(1);
  succeed('A');
  await drained;
  expect(order).toEqual(['written', 'drained']);
});
