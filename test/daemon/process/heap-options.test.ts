import { execFile } from 'node:child_process';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { promisify } from 'node:util';
import type { HeapSpaceInfo } from 'node:v8';
import v8 from 'node:v8';
import { Script } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { heapOptions } from '../../../src/daemon/process/heap-options.ts';

const run = promisify(execFile);
const mebibyte = 1024 * 1024;
const bound = '--semi-space-growth-factor=1';
const grow = '--semi-space-growth-factor=2';
const applied = [
  '--heap-growing-percent=150',
  '--no-allocation-site-pretenuring',
  '--no-memory-reducer-favors-memory',
  bound,
];
const own = [
  '--heap-growing-percent=0',
  '--allocation-site-pretenuring',
  '--memory-reducer-favors-memory',
  grow,
];

/** `check` gives the size and the load of the next check, and returns the options that it set for the young generation. */
function start(v8Version = '13.6.1') {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const flags: string[] = [];
  let size = 0;
  let load = 0;
  let oldSize = 20;
  let collections = 0;
  const space = (name: string, bytes: number) =>
    ({ space_name: name, space_size: bytes, space_used_size: bytes }) as HeapSpaceInfo;
  const options = heapOptions({
    v8: {
      getHeapSpaceStatistics: () => [space('old_space', oldSize * mebibyte), space('new_space', size)],
      setFlagsFromString: (flag) => flags.push(flag),
    },
    v8Version,
    eventLoopUtilization: (_now, last) => ({ utilization: last ? load : 1 }) as EventLoopUtilization,
    collectGarbage: () => {
      collections += 1;
    },
  });
  const check = (mebibytes: number, utilization: number) => {
    size = mebibytes * mebibyte;
    load = utilization;
    vi.advanceTimersByTime(250);
    return flags.splice(0).filter((flag) => flag === bound || flag === grow);
  };
  const grownTo = (mebibytes: number) => {
    oldSize = mebibytes;
    vi.advanceTimersByTime(250);
    return flags.splice(0).filter((flag) => flag.startsWith('--heap-growing'));
  };
  return { ...options, check, grownTo, set: () => flags.splice(0), collections: () => collections };
}

test('options are set while calls are served only', () => {
  const { apply, set, check } = start();
  vi.advanceTimersByTime(10_000);
  expect(set()).toEqual([]);
  const end = apply();
  expect(set()).toEqual(applied);
  check(2, 0.9);
  end();
  expect(set()).toEqual(own);
  expect(check(2, 0.9)).toEqual([]);
});

test('this Node knows the options', async () => {
  const { apply, set } = start(process.versions.v8);
  apply();
  // Unknown ones are reported as errors.
  const { stderr } = await run(process.execPath, [...set(), '--eval', '']);
  expect(stderr).toBe('');
});

test('an older V8 gets no option that it does not know', () => {
  const { apply, set } = start('12.4.254');
  apply();
  expect(set()).toEqual(applied.filter((option) => !option.includes('reducer')));
});

test('under load, V8 may enlarge its young generation up to 32 MiB, and again once it has made it smaller', () => {
  const { apply, check } = start();
  apply();
  check(2, 0);
  const set = [2, 16, 32, 64, 32, 16, 2, 32].map((mebibytes) => check(mebibytes, 0.5));
  expect(set).toEqual([[grow], [], [bound], [], [], [grow], [], [bound]]);
});

test('at rest it stays as it is', () => {
  const { apply, check, set } = start();
  apply();
  set();
  const changes = [0.01, 0.04, 0.05, 0.9, 0.01].map((utilization) => check(2, utilization));
  expect(changes).toEqual([[], [], [grow], [], [bound]]);
});

test('the garbage of the start is collected once, when nothing else is to do', () => {
  const { apply, check, collections } = start();
  apply();
  const counts = [0.9, 0.5, 0.01, 0.01, 0.9, 0.01].map((utilization) => {
    check(2, utilization);
    return collections();
  });
  expect(counts).toEqual([0, 0, 1, 1, 1, 1]);
});

test('no code is thrown away that calls have compiled before the first rest', () => {
  const { apply, check, collections } = start();
  apply();
  for (const utilization of [...Array(9).fill(0.5), 0.01, 0.01]) check(2, utilization);
  expect(collections()).toBe(0);
});

test('full collections begin to be frequent once the heap has been large', () => {
  const { apply, check, grownTo, set } = start();
  apply();
  check(2, 0.9);
  set();
  expect([30, 38, 60, 30].map(grownTo)).toEqual([[], [], ['--heap-growing-percent=50'], []]);
});

test('a task that loads code has the options of the start, whether or not it throws', () => {
  const { apply, check, suspend, set } = start();
  expect(suspend(set)).toEqual([]);
  apply();
  check(2, 0.9);
  expect(suspend(set)).toEqual(own);
  expect(set()).toEqual([...applied.slice(0, -1), grow]);
  expect(() =>
    suspend(() => {
      throw new Error('no such module');
    }),
  ).toThrow('no such module');
  expect(set()).toEqual([...own, ...applied.slice(0, -1), grow]);
});

test('while several threads start, all load code with the options of the start', () => {
  const { apply, hold, set } = start();
  apply();
  set();
  const [first, second] = [hold(), hold()];
  expect(set()).toEqual(own);
  first();
  first();
  expect(set()).toEqual([]);
  second();
  expect(set()).toEqual(applied);
});

test('V8 accepts code of the start while options are set, if they are suspended', () => {
  const text = 'function one() { return 1; } one();';
  const cachedData = new Script(text).createCachedData();
  const isRejected = (filename: string) => new Script(text, { filename, cachedData }).cachedDataRejected;
  const { apply, suspend } = heapOptions({
    v8,
    v8Version: process.versions.v8,
    eventLoopUtilization: () => ({ utilization: 0, active: 0, idle: 0 }),
    collectGarbage: () => {},
  });
  const end = apply();
  onTestFinished(end);
  expect(isRejected('applied')).toBe(true);
  expect(suspend(() => isRejected('suspended'))).toBe(false);
  end();
  expect(isRejected('ended')).toBe(false);
});
