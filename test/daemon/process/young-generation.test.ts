import type { EventLoopUtilization } from 'node:perf_hooks';
import type { HeapSpaceInfo } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundYoungGeneration } from '../../../src/daemon/process/young-generation.ts';

const mebibyte = 1024 * 1024;
const stop = ['--semi-space-growth-factor=1'];
const grow = ['--semi-space-growth-factor=2'];

/** `check` gives the size and the load of the next check, and returns the flags that it set. */
function start() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const flags: string[] = [];
  let size = 0;
  let load = 0;
  const space = (name: string, bytes: number) => ({ space_name: name, space_size: bytes }) as HeapSpaceInfo;
  const { adapt, asAtStart } = boundYoungGeneration({
    v8: {
      getHeapSpaceStatistics: () => [space('old_space', 500 * mebibyte), space('new_space', size)],
      setFlagsFromString: (flag) => flags.push(flag),
    },
    eventLoopUtilization: (_now, last) => ({ utilization: last ? load : 1 }) as EventLoopUtilization,
  });
  expect(flags.splice(0)).toEqual(stop);
  vi.advanceTimersByTime(1_000);
  expect(flags).toEqual([]);
  const end = adapt();
  const check = (mebibytes: number, utilization: number) => {
    size = mebibytes * mebibyte;
    load = utilization;
    vi.advanceTimersByTime(250);
    return flags.splice(0);
  };
  return { check, asAtStart, flags, end };
}

test('under load, V8 may enlarge its young generation up to 32 MiB, and again once it has made it smaller', () => {
  const { check } = start();
  const set = [2, 16, 32, 64, 32, 16, 2, 32].map((mebibytes) => check(mebibytes, 0.5));
  expect(set).toEqual([grow, [], stop, [], [], grow, [], stop]);
});

test('at rest it stays as it is', () => {
  const { check } = start();
  const set = [0.01, 0.04, 0.05, 0.9, 0.01].map((utilization) => check(2, utilization));
  expect(set).toEqual([[], [], grow, [], stop]);
});

test('what has to run with the options of the start does, whatever they are by then', () => {
  const { check, asAtStart, flags } = start();
  const during = () => {
    const set: string[] = [];
    asAtStart(() => set.push(...flags));
    return [set, flags.splice(0)];
  };
  expect(during()).toEqual([[], []]);
  check(2, 0.9);
  expect(during()).toEqual([stop, [...stop, ...grow]]);
});

test('the end of the process has the options of the start, too', () => {
  const { check, end, flags } = start();
  check(2, 0.9);
  end();
  expect(flags.splice(0)).toEqual(stop);
  expect(check(2, 0.9)).toEqual([]);
});

test('a task that throws leaves the options as they were', () => {
  const { check, asAtStart, flags } = start();
  check(2, 0.9);
  expect(() =>
    asAtStart(() => {
      throw new Error('no such module');
    }),
  ).toThrow('no such module');
  expect(flags).toEqual([...stop, ...grow]);
});
