import type { EventLoopUtilization } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { LoopDelay } from '../../../../src/daemon/http/protection/loop-delay.ts';

/** Looks once for each load, with a delay of so many milliseconds in what is measured. */
function looks(loads: readonly number[], measuredMs: number) {
  let isMeasured = false;
  let load = 0;
  const set = (value: boolean) => {
    isMeasured = value;
    return true;
  };
  const delay = new LoopDelay({
    histogram: {
      enable: () => set(true),
      disable: () => set(false),
      reset: () => {},
      percentile: () => (isMeasured ? (measuredMs + 50) * 1e6 : 511),
    },
    eventLoopUtilization: () => ({ utilization: load }) as EventLoopUtilization,
  });
  const seen = loads.map((next) => {
    load = next;
    return { delayMs: delay.look(), isMeasured };
  });
  delay.stop();
  return { seen, isMeasured };
}

test('the delay of the loop is measured while it is busy, and at rest nothing wakes it', () => {
  const { seen, isMeasured } = looks([0, 0.01, 0.9, 0.9, 0.2, 0.01, 0], 300);
  expect(seen.map((look) => look.isMeasured)).toEqual([false, false, true, true, true, false, false]);
  expect(seen.map((look) => look.delayMs)).toEqual([0, 0, 0, 300, 300, 300, 0]);
  expect(isMeasured).toBe(false);
});
