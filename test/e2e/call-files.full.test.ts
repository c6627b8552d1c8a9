import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

// Whoever reads how a call is served opens these files, and a cold start compiles them. More of them are a decision.
test.each([
  ['a streamed Responses call', 'responses', 125],
  ['a streamed chat completion', 'chat', 115],
])('%s runs through no more files than it did', async (_call, format, filesMax) => {
  const { stdout } = await run(process.execPath, ['test/bench/call-files.ts', format]);
  const files = stdout.trim().split('\n');
  expect(files.pop()).toBe(`${files.length} files`);
  expect(files.length).toBeGreaterThan(80);
  expect(files.length, stdout).toBeLessThanOrEqual(filesMax);
});
