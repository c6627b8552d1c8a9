/**
 * Ten full runs of all tests, half of them quiet and half beside four busy loops, with the files in an order of their own each:
 * `npm run long -- stability [RUNS] [--again] [--busy | --quiet]`. Nothing else should run on the machine beside quiet runs. Each run is
 * recorded in `test/long/stability.json` with the commit and the seed of its order; started again, on any machine, it continues where it was
 * stopped. Without `--busy` or `--quiet`, the kind of which there are fewer is next. What a run printed in which something failed is in `build/stability-<seed>.log`.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { endedCpuSeconds } from '../support/ended-cpu.ts';

interface Run {
  /** The first digits of the commit that was tested. */
  commit: string;
  seed: number;
  isBusy: boolean;
  passed: number;
  failed: number;
  seconds: number;
  /** Of all processes that ended. */
  cpuSeconds: number;
  /** The names of the tests that failed. */
  failures: string[];
}

const file = 'test/long/stability.json';
const args = process.argv.slice(2);
if (args.includes('--again')) rmSync(file, { force: true });
const runs: Run[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();
const isKind = args.includes('--busy') ? true : args.includes('--quiet') ? false : undefined;
const wanted = Number(args.find((argument) => /^\d+$/.test(argument)) ?? 10);

async function runAll(seed: number, isBusy: boolean): Promise<Run> {
  const loops = Array.from({ length: isBusy ? 4 : 0 }, () =>
    spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }),
  );
  const [startedAt, cpuBefore] = [performance.now(), endedCpuSeconds()];
  try {
    const order = ['--sequence.shuffle.files', `--sequence.seed=${seed}`];
    const child = spawn(process.execPath, ['test/support/run-tests.ts', 'full', ...order], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GATEWAY_TEST_SHUFFLE: '1' },
    });
    let printed = '';
    // Vitest names failed tests on the second.
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    await once(child, 'close');
    const [, passed = 0, failed = 1] = /^(\d+) passed, (\d+) failed$/m.exec(printed)?.map(Number) ?? [];
    if (failed > 0) writeFileSync(`build/stability-${seed}.log`, stripVTControlCharacters(printed));
    const failures = [...stripVTControlCharacters(printed).matchAll(/FAIL +(test\/.*)$/gm)].map(
      ([, name = '']) => name,
    );
    return {
      commit,
      seed,
      isBusy,
      passed,
      failed,
      seconds: Math.round((performance.now() - startedAt) / 1000),
      cpuSeconds: Math.round(endedCpuSeconds() - cpuBefore),
      failures: [...new Set(failures)],
    };
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

const describeRun = ({ commit, seed, isBusy, passed, failed, seconds, cpuSeconds }: Run) =>
  `${commit}, seed ${seed}, ${isBusy ? 'busy' : 'quiet'}: ${passed} passed, ${failed} failed in ${seconds} s, ${cpuSeconds} s of CPU`;

for (const run of runs) process.stdout.write(`${describeRun(run)}\n`);
while (runs.length < wanted) {
  const busyRuns = runs.filter(({ isBusy }) => isBusy).length;
  const run = await runAll(Math.floor(Math.random() * 1e9), isKind ?? busyRuns < runs.length - busyRuns);
  runs.push(run);
  writeFileSync(file, `${JSON.stringify(runs, undefined, 2)}\n`);
  process.stdout.write(`${[describeRun(run), ...run.failures].join('\n  ')}\n`);
}
const failedRuns = runs.filter(({ failed }) => failed > 0).length;
process.stdout.write(`${runs.length - failedRuns} passed, ${failedRuns} failed\n`);
if (failedRuns > 0) process.exitCode = 1;
