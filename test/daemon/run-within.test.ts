import { createContext, Script } from 'node:vm';
import { expect, test } from 'vitest';
import { runWithin, threadCpuMs } from '../../src/daemon/run-within.ts';

test('a script that ends in time returns its result', () => {
  expect(runWithin(new Script('text.length'), createContext({ text: 'three' }), 100)).toBe(5);
});

test('one that does not is stopped once it has used its processor time', () => {
  const before = threadCpuMs();
  expect(() => runWithin(new Script('for (;;) {}'), createContext({}), 30)).toThrow(/timed out/);
  expect(threadCpuMs() - before).toBeGreaterThanOrEqual(30);
});

test('its own error is thrown, and it is not run again', () => {
  const context = createContext({ runs: 0 });
  expect(() => runWithin(new Script('runs += 1; throw new RangeError("no")'), context, 100)).toThrow('no');
  expect(context).toMatchObject({ runs: 1 });
});
