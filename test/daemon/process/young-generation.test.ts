import type { HeapSpaceInfo } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundYoungGeneration } from '../../../src/daemon/process/young-generation.ts';

const mebibyte = 1024 * 1024;

test('V8 may enlarge its young generation up to 32 MiB, and again once it has made it smaller', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const flags: string[] = [];
  let size = 0;
  const space = (name: string, bytes: number) => ({ space_name: name, space_size: bytes }) as HeapSpaceInfo;
  boundYoungGeneration({
    getHeapSpaceStatistics: () => [space('old_space', 500 * mebibyte), space('new_space', size)],
    setFlagsFromString: (flag) => flags.push(flag),
  });
  const set = [2, 16, 32, 64, 32, 16, 2, 32].map((mebibytes) => {
    size = mebibytes * mebibyte;
    vi.advanceTimersByTime(250);
    return flags.splice(0);
  });
  const stop = ['--semi-space-growth-factor=1'];
  const grow = ['--semi-space-growth-factor=2'];
  expect(set).toEqual([[], [], stop, [], [], grow, [], stop]);
});
