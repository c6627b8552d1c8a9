import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HoldQueue, type Refused } from '../../../../../src/daemon/features/metering/admission/hold-queue.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { fakeWorld } from '../../../../support/fake-world.ts';

/** A limit, calls that run under it, and calls that wait for it. */
function aLimit(amount: number, { askEveryMs = Number.POSITIVE_INFINITY } = {}) {
  const world = fakeWorld();
  const queue = new HoldQueue({ sleep: world.sleep, askEveryMs });
  const state = { spent: 0, held: 0, attempts: 0, refusals: 0 };
  const started: number[] = [];
  const refused: number[] = [];
  const call = (id: number, asks: number) => {
    const attempt = async (): Promise<{ id: number } | Refused> => {
      state.attempts += 1;
      const left = amount - state.spent - state.held;
      if (left >= asks) {
        state.held += asks;
        return { id };
      }
      const mayFit = left + state.held >= asks;
      const error = new ApiError('limit_reached', mayFit ? { retryAfterSeconds: 1 } : {});
      const onRefused = () => {
        state.refusals += 1;
      };
      return { error, limit: mayFit ? 'cap' : undefined, onRefused };
    };
    return queue.start(attempt).then(
      () => void started.push(id),
      (error: ApiError) => {
        refused.push(id);
        return error.retryAfterSeconds;
      },
    );
  };
  const end = (held: number, charged: number, isReported = true) => {
    state.held -= held;
    state.spent += charged;
    if (isReported) queue.released();
  };
  return { world, call, end, state, started, refused };
}

test('a call waits for what running ones hold, and starts when it is left', async () => {
  const { world, call, end, state, started } = aLimit(100);
  await call(1, 80);
  const second = call(2, 80);
  await world.advance(0);
  await world.advance(249);
  expect(started).toEqual([1]);
  end(80, 20);
  await second;
  expect({ started, ...state }).toMatchObject({ started: [1, 2], spent: 20, held: 80, refusals: 0 });
});

test('it is refused after 250 ms, with Retry-After, and reported once', async () => {
  const { world, call, state, refused } = aLimit(100);
  await call(1, 80);
  const second = call(2, 80);
  await world.advance(0);
  await world.advance(250);
  expect(await second).toBe(1);
  expect({ refused, ...state }).toMatchObject({ refused: [2], held: 80, refusals: 1 });
});

test('what no end of a call makes room for is refused at once, without Retry-After', async () => {
  const { call, end, state } = aLimit(100);
  await call(1, 60);
  end(60, 60);
  expect(await call(2, 60)).toBeUndefined();
  expect(state.attempts).toBe(2);
});

test('a call that waits is refused as soon as too little can be left', async () => {
  const { call, end, refused } = aLimit(100);
  await call(1, 80);
  const second = call(2, 80);
  end(80, 50);
  expect(await second).toBeUndefined();
  expect(refused).toEqual([2]);
});

test('calls start in their order, as many as there is room for', async () => {
  const { world, call, end, started } = aLimit(100);
  await call(1, 90);
  const rest = [2, 3, 4, 5, 6].map((id) => call(id, 30));
  end(90, 0);
  await world.advance(1);
  expect(started).toEqual([1, 2, 3, 4]);
  end(30, 0);
  await world.advance(1);
  expect(started).toEqual([1, 2, 3, 4, 5]);
  await world.advance(250);
  await Promise.all(rest);
  expect(started).toEqual([1, 2, 3, 4, 5]);
});

test('what another member ended is seen although nobody reports it', async () => {
  const { world, call, end, started, state } = aLimit(100, { askEveryMs: 40 });
  await call(1, 80);
  const waiting = [2, 3].map((id) => call(id, 80));
  await world.advance(0);
  await world.advance(40);
  end(80, 10, false);
  await world.advance(40);
  expect(started).toEqual([1, 2]);
  await world.advance(250);
  await Promise.all(waiting);
  const { attempts } = state;
  await world.advance(1_000);
  expect(state.attempts).toBe(attempts);
});

test('never more than the limit is held and spent, and nobody waits on, whatever ends when', async () => {
  const step = fc.oneof(
    fc.record({ ask: fc.integer({ min: 1, max: 60 }) }),
    fc.record({
      endShare: fc.double({ min: 0, max: 1, noNaN: true }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    fc.record({ ms: fc.integer({ min: 1, max: 120 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { world, call, end, state, started, refused } = aLimit(100, { askEveryMs: 40 });
      const asks: number[] = [];
      const open = new Set<number>();
      let seen = 0;
      const calls: Promise<unknown>[] = [];
      for (const one of steps) {
        if ('ask' in one) calls.push(call(asks.push(one.ask) - 1, one.ask));
        else if ('ms' in one) await world.advance(one.ms);
        else {
          const running = [...open];
          const id = running[Math.floor(one.endShare * running.length)];
          if (id !== undefined) {
            open.delete(id);
            end(asks[id] as number, Math.floor(one.share * (asks[id] as number)));
          }
        }
        await world.advance(0);
        for (; seen < started.length; seen += 1) open.add(started[seen] as number);
        expect(state.spent + state.held).toBeLessThanOrEqual(100);
      }
      await world.advance(250);
      await Promise.all(calls);
      expect([...started, ...refused].sort((a, b) => a - b)).toEqual(asks.map((_, id) => id));
    }),
  );
});
