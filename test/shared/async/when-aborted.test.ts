import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallAbortController, whenAborted } from '../../../src/shared/async/when-aborted.ts';

test('every remaining listener is called once, in whatever order others were removed', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 99 }), { maxLength: 120 }), (leaving) => {
      const { signal, ...controller } = watched();
      const reported: number[] = [];
      const ends = Array.from({ length: 50 }, (_, who) => whenAborted(signal, () => reported.push(who)));
      const left = new Set<number>();
      for (const choice of leaving) {
        if (choice < 50) {
          ends[choice]?.();
          left.add(choice);
        } else ends.push(whenAborted(signal, () => reported.push(ends.length)));
      }
      controller.abort();
      controller.abort();
      for (const end of ends) end();
      expect(reported.filter((who) => left.has(who))).toEqual([]);
      expect(reported).toHaveLength(ends.length - left.size);
    }),
  );
});

test('a signal has one event listener, however many listeners it has here', () => {
  const { signal } = watched();
  for (let i = 0; i < 1000; i += 1) whenAborted(signal, () => {});
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
});

test('a listener added after the abort is called immediately', () => {
  const { signal, abort } = watched();
  abort();
  let reported = 0;
  whenAborted(signal, () => {
    reported += 1;
  })();
  expect(reported).toBe(1);
});

test('a listener removed by another listener is not called', () => {
  const { signal, abort } = watched();
  let reported = 0;
  const ends: (() => void)[] = [];
  for (let i = 0; i < 2; i += 1) {
    ends[i] = whenAborted(signal, () => {
      reported += 1;
      ends[1 - i]?.();
    });
  }
  abort();
  expect(reported).toBe(1);
});

test('a controller of a call has no event listener, and aborts its signal before it calls its listeners', () => {
  const controller = new CallAbortController();
  const { signal } = controller;
  const reported: unknown[] = [];
  whenAborted(signal, () => reported.push(signal.reason));
  const removed = whenAborted(signal, () => reported.push('removed'));
  signal.addEventListener('abort', () => reported.push('event'));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  removed();
  controller.abort('over');
  controller.abort('again');
  expect(reported).toEqual(['event', 'over']);
});

function watched() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
