/**
 * Runs a stage of the tests: `core`, what tells whether the program is right; `rest`, the files named `*.full.test.ts`; or
 * `full`, both. Types, lint and the build are checked beside the former. Arguments after the stage are vitest's;
 * of named files only those run, without the checks. The last line says how many passed and failed, each check counting as
 * one; exits with 1 if any failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isBuilt } from '../../tools/build/built.ts';

const stages: Record<string, { checks: readonly string[]; files: readonly string[] }> = {
  core: {
    checks: ['types', 'lint'],
    // Its tests wait less, and each process loads the whole program once.
    files: [
      '--exclude',
      '**/*.full.test.ts',
      '--maxWorkers',
      String(Math.ceil(availableParallelism() * 1.5)),
    ],
  },
  rest: { checks: [], files: ['.full.test.ts'] },
  full: { checks: ['types', 'lint'], files: [] },
};

const [name = '', ...vitestArguments] = process.argv.slice(2);
const stage = stages[name];
if (!stage) throw new Error(`the stages are ${Object.keys(stages).join(', ')}`);

/** Runs a script of package.json; what it prints follows when it has ended. */
async function succeeds(script: string): Promise<boolean> {
  const child = spawn('npm', ['run', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => printed.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.stdout.write(Buffer.concat(printed));
  return code === 0;
}

interface Counts {
  passed: number;
  failed: number;
}

async function runVitest(args: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-results-'));
  const file = join(folder, 'results.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...args, ...reporters];
  const child = spawn(process.execPath, vitest, { stdio: 'inherit' });
  const [code] = (await once(child, 'close')) as [number | null];
  try {
    const counts = countsIn(JSON.parse(readFileSync(file, 'utf8')));
    // What failed outside of tests, such as an error that nothing handled.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch {
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Results {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

function countsIn({ numPassedTests, numFailedTests, testResults }: Results): Counts {
  // A file that could not be loaded has no failed test of its own.
  const broken = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
  );
  return { passed: numPassedTests, failed: numFailedTests + broken.length };
}

// Tests load what is built, which setting up a clone and an earlier stage have done as well.
const canRun = isBuilt() || (await succeeds('build'));
const isNamed = vitestArguments.some((argument) => argument.startsWith('test/'));
const checks = isNamed ? [] : stage.checks.map(succeeds);
const counts = canRun
  ? await runVitest([...(isNamed ? [] : stage.files), ...vitestArguments])
  : { passed: 0, failed: 0 };
const results = [canRun, ...(await Promise.all(checks))];
const passed = counts.passed + results.filter(Boolean).length;
const failed = counts.failed + results.filter((isPassed) => !isPassed).length;
// On a line of its own: Vitest may leave one with the cursor's escape code.
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
