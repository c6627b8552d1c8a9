import { createContext, Script } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runWithin } from '../../../src/daemon/runtime/run-within.ts';
import { fakeCpuTime } from '../../support/fake-cpu-time.ts';

test('a script that ends in time returns its result', () => {
  expect(runWithin(new Script('text.length'), createContext({ text: 'three' }), 100)).toBe(5);
});

test('one that does not is stopped once it has used its processor time', () => {
  // Of the time of each run, others take two thirds.
  let ms = 0;
  fakeCpuTime(() => ms);
  const runs = vi.spyOn(Script.prototype, 'runInContext').mockImplementation(() => {
    ms += 10;
    throw Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  });
  onTestFinished(() => runs.mockRestore());
  expect(() => runWithin(new Script('for (;;) {}'), createContext({}), 30)).toThrow('timed out');
  expect(runs).toHaveBeenCalledTimes(3);
});

test('a script that never ends is stopped', () => {
  expect(() => runWithin(new Script('for (;;) {}'), createContext({}), 1)).toThrow(/timed out/);
});

test('its own error is thrown, and it is not run again', () => {
  const context = createContext({ runs: 0 });
  expect(() => runWithin(new Script('runs += 1; throw new RangeError("no")'), context, 100)).toThrow('no');
  expect(context).toMatchObject({ runs: 1 });
});
