import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Threads of tests are started from source: without the cache, each start compiles them again.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache');
// Hundreds of databases are created and flushed to disk; where memory can serve as the disk, nothing waits for that.
const memoryDisk = '/dev/shm';
if (!process.env.TMPDIR && existsSync(memoryDisk)) {
  const { bavail, bsize } = statfsSync(memoryDisk);
  if (bavail * bsize > 2 * 1024 ** 3) process.env.TMPDIR = memoryDisk;
}

// The bundles of programs and threads, which the processes of the tests share.
const bundles = mkdtempSync(join(tmpdir(), 'gateway-bundles-'));
process.env.GATEWAY_TEST_BUNDLES = bundles;
process.once('exit', () => rmSync(bundles, { recursive: true, force: true }));

/** Without durations of an earlier run, the largest files start first: small ones that take a minute or two would end alone. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const long = /\/(first-command|\w+-stores-\d)(\.full)?\.test\.ts$/;
    const rank = ({ moduleId }: TestSpecification) => (long.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    alias: [{ find: /^.*\/start-script\.ts$/, replacement: resolve('test/support/start-script.ts') }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/seed-properties.ts', 'test/support/own-globals.ts'],
    pool: 'forks',
    // Most of what a test makes lives as long as the test: with room for it, V8 copies little of it around. Saves a tenth of all CPU.
    execArgv: ['--max-semi-space-size=64'],
    // Vitest's own shuffles files, if it is asked to.
    sequence: process.env.GATEWAY_TEST_SHUFFLE ? {} : { sequencer: LongFilesFirst },
    // More than processors: tests also wait, for programs and timers.
    maxWorkers: availableParallelism() * 2,
    // Tests that run side by side mostly wait for timeouts of providers.
    maxConcurrency: 80,
    // Loading the daemon takes longer than most test files run, so files that share a process share its modules.
    isolate: false,
    // Waits end with what they wait for; limits are only for what never comes, also on a machine with much else to do.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 5 } },
  },
});
