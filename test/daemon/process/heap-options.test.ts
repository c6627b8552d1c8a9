import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import v8 from 'node:v8';
import { expect, test, vi } from 'vitest';
import { setHeapOptions } from '../../../src/daemon/process/heap-options.ts';

const run = promisify(execFile);

test('this Node knows the options of the heap', async () => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue();
  setHeapOptions();
  const options = set.mock.calls.map(([option]) => option);
  expect(options.length).toBeGreaterThan(0);
  // Unknown ones are reported as errors.
  const { stderr } = await run(process.execPath, [...options, '--eval', '']);
  expect(stderr).toBe('');
});
