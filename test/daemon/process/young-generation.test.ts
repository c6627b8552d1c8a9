import * as v8 from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { boundYoungGeneration } from '../../../src/daemon/process/young-generation.ts';

vi.mock('node:v8', { spy: true });

const mebibyte = 1024 * 1024;
const flags: string[] = [];
let size = 0;

beforeEach(() => {
  vi.useFakeTimers();
  flags.length = 0;
  const other = { space_name: 'old_space', space_size: 500 * mebibyte } as v8.HeapSpaceInfo;
  vi.mocked(v8.getHeapSpaceStatistics).mockImplementation(() => [
    other,
    { ...other, space_name: 'new_space', space_size: size },
  ]);
  vi.mocked(v8.setFlagsFromString).mockImplementation((flag) => void flags.push(flag));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('V8 may enlarge its young generation up to 32 MiB, and again once it has made it smaller', () => {
  boundYoungGeneration();
  const sizes = [2, 16, 32, 64, 32, 16, 2, 32];
  const factors = sizes.map((mib) => {
    size = mib * mebibyte;
    vi.advanceTimersByTime(250);
    return flags.splice(0);
  });
  const stop = ['--semi-space-growth-factor=1'];
  const grow = ['--semi-space-growth-factor=2'];
  expect(factors).toEqual([[], [], stop, [], [], grow, [], stop]);
});
