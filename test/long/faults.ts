/**
 * Plants the faults of `test/support/fault-table.ts` in a copy of the working tree, one at a time, and tells which of them the
 * tests find: `npm run long -- faults`. Nearest tests run first; what they do not find goes to those farther away. Results are
 * written to `build/faults-<stage>.json`, where a later run goes on. Options: `--stage core` leaves out `*.full.test.ts`,
 * `--again` starts over, `--only N` tries the Nth fault, `--maxWorkers N` is for vitest.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { type Fault, plantedFaults } from '../support/fault-table.ts';
import { Checks } from '../support/long-run.ts';
import { TestDistances } from '../support/test-distances.ts';
import { WorkingCopy } from '../support/working-copy.ts';

const stages = ['full', 'core'];
/** How many test files the first, second and third round have at most, and each batch of the last. */
const roundsMax = [20, 6, 20] as const;
const batchMax = 60;
/** Less than usual: faults may make tests hang. */
const timeoutMs = 100_000;

interface Found {
  /** A test file, `types` or `lint`. */
  by: string;
  test: string;
}

interface Result extends Fault {
  found: Found | null;
  hasEnded: boolean;
  /** Whether types and lint found nothing. */
  isChecked: boolean;
  /** Test files that did not find it. */
  passed: string[];
  cpuSeconds: number;
  seconds: number;
}

interface Results {
  /** Test files that passed without a fault, and those that did not, which find nothing. */
  sound: string[];
  unsound: string[];
  faults: Result[];
}

const { values: options } = parseArgs({
  options: {
    stage: { type: 'string', default: 'full' },
    only: { type: 'string' },
    again: { type: 'boolean', default: false },
    maxWorkers: { type: 'string', default: '2' },
  },
});
const { stage, again, maxWorkers } = options;
if (!stages.includes(stage)) throw new Error(`--stage is one of ${stages.join(', ')}`);
const only = options.only === undefined ? undefined : Number(options.only);
if (only !== undefined && plantedFaults[only - 1] === undefined)
  throw new Error(`--only is a number from 1 to ${plantedFaults.length}`);

for (const { path, text } of plantedFaults) {
  const count = existsSync(path) ? readFileSync(path, 'utf8').split(text).length - 1 : 0;
  if (count !== 1)
    throw new Error(
      `${path} has ${count} times, not once: ${text}. Change it in test/support/fault-table.ts.`,
    );
}

const resultsFile = `build/faults-${stage}.json`;
const results = earlierResults();
const chosen = results.faults.filter((_, index) => only === undefined || index === only - 1);

const distances = new TestDistances();
// The test of the table itself fails with every fault.
const tests = distances.tests.filter(
  (path) => path !== 'test/fault-table.test.ts' && (stage === 'full' || !path.endsWith('.full.test.ts')),
);
/** They load what is built. */
const builtTests = new Set(
  ['test/support/browser.ts', 'test/support/installed-package.ts'].flatMap((path) => [
    ...distances.of(path).keys(),
  ]),
);
/** In how many names of test files a word is. */
const testsWith = new Map<string, number>();
for (const word of tests.flatMap((test) => [...wordsOf(test)]))
  testsWith.set(word, (testsWith.get(word) ?? 0) + 1);
const copy = new WorkingCopy();
const vitestResults = join(copy.folder, 'build/vitest.json');
/** The fault in the last build; null for none. */
let built: Fault | null | undefined;

await build(null);
await checkAll(chosen.filter(({ isChecked, hasEnded }) => !isChecked && !hasEnded));
for (const round of [0, 1, 2, 3]) {
  for (const result of chosen) {
    if (result.hasEnded) continue;
    const startedAt = performance.now();
    for (const batch of roundsOf(result)[round] ?? []) {
      await tryTests(result, batch);
      if (result.found) break;
    }
    result.seconds += Math.round((performance.now() - startedAt) / 1000);
    if (round === 3) result.hasEnded = true;
    save();
    const by = result.found ? `${result.found.by}: ${result.found.test}` : 'not found so far';
    process.stdout.write(`${result.path}: ${by}\n`);
  }
}
printResults();

function earlierResults(): Results {
  const none: Results = { sound: [], unsound: [], faults: [] };
  const earlier: Results =
    existsSync(resultsFile) && !again ? JSON.parse(readFileSync(resultsFile, 'utf8')) : none;
  const known = (fault: Fault) =>
    earlier.faults.find(
      ({ path, text, replacement }) =>
        path === fault.path && text === fault.text && replacement === fault.replacement,
    );
  const untried = { found: null, hasEnded: false, isChecked: false, passed: [], cpuSeconds: 0, seconds: 0 };
  return {
    ...earlier,
    faults: plantedFaults.map((fault) => known(fault) ?? { ...structuredClone(untried), ...fault }),
  };
}

function save(): void {
  mkdirSync('build', { recursive: true });
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 1)}\n`);
}

function plant({ path, text, replacement }: Fault): void {
  copy.write(
    path,
    copy.read(path).replace(text, () => replacement),
  );
}

function unplant({ path }: Fault): void {
  copy.write(path, readFileSync(path, 'utf8'));
}

/** Checks types and lint of all faults at once: each takes almost as long for one. */
async function checkAll(faults: readonly Result[]): Promise<void> {
  if (faults.length === 0) return;
  const paths = faults.map(({ path }) => path);
  for (const fault of faults) plant(fault);
  const compiler = 'node_modules/@typescript/native/bin/tsc';
  const lint = ['node_modules/@biomejs/biome/bin/biome', 'lint', '--reporter=github'] as const;
  const promises = ['--config-path=tools/lint/promises.json', '--diagnostic-level=error'];
  const found = [
    ...(await complaints('types', compiler, ['--pretty', 'false'])),
    ...(await complaints('types', compiler, ['--pretty', 'false', '--project', 'src/web'])),
    ...(await complaints('lint', lint[0], [...lint.slice(1), '--error-on-warnings', ...paths])),
    ...(await complaints('lint', lint[0], [...lint.slice(1), ...promises, ...paths])),
  ];
  for (const fault of faults) {
    unplant(fault);
    fault.isChecked = true;
    fault.found = found.find(({ path }) => path === fault.path)?.found ?? null;
    fault.hasEnded = fault.found !== null;
  }
  save();
}

async function complaints(by: string, script: string, args: readonly string[]) {
  const { code, output } = await copy.run(script, args);
  const form =
    by === 'types' ? /^(src\/[^(]+)\([\d,]+\): error (.*)$/gm : /file=\S*?(src\/[^,]+).*?::(.*)$/gm;
  const found = [...output.matchAll(form)].map(([, path = '', test = '']) => ({ path, found: { by, test } }));
  if (code !== 0 && found.length === 0) throw new Error(`${script} failed:\n${output}`);
  return found;
}

/**
 * The test files of each round, in batches: the file's own and those that import it; those that reach it through others and whose
 * names share the rarest words with its path; the rest, with those that do not reach it last.
 */
function roundsOf({ path }: Fault): string[][][] {
  const known = distances.of(path);
  const words = wordsOf(path);
  const ownName = path.replace(/^src/, 'test').replace(/\.tsx?$/, '');
  const rank = (test: string) => {
    const isOwn = test.replace(/(\.full)?\.test\.ts$/, '') === ownName;
    const shared = [...wordsOf(test)].filter((word) => words.has(word));
    const kinship = shared.reduce((sum, word) => sum + 1 / (testsWith.get(word) ?? 1), 0);
    const distance = known.get(test) ?? Number.POSITIVE_INFINITY;
    // Two imports are often one through an index.
    return { isOwn, isDirect: isOwn || distance <= 2, kinship, distance };
  };
  const ranked = tests
    .map((test) => ({ test, ...rank(test) }))
    .sort(
      (a, b) =>
        Number(b.isOwn) - Number(a.isOwn) ||
        Number(b.isDirect) - Number(a.isDirect) ||
        Number(Number.isFinite(b.distance)) - Number(Number.isFinite(a.distance)) ||
        b.kinship - a.kinship ||
        // Infinity less infinity is not a number.
        a.distance - b.distance ||
        0,
    );
  const direct = ranked.filter(({ isDirect }) => isDirect).slice(0, roundsMax[0]);
  const own = direct.filter(({ isOwn }) => isOwn).map(({ test }) => test);
  const importers = direct.filter(({ isOwn }) => !isOwn).map(({ test }) => test);
  const others = ranked.slice(direct.length).map(({ test }) => test);
  const nearest = others.splice(0, roundsMax[1]);
  const near = others.splice(0, roundsMax[2]);
  const batches = Array.from({ length: Math.ceil(others.length / batchMax) }, () =>
    others.splice(0, batchMax),
  );
  return [[own, importers], [nearest], [near], batches];
}

/** The words of a path, without those that many have. */
function wordsOf(path: string): Set<string> {
  const words = path.split(/[/.-]/).map((word) => word.replace(/s$/, ''));
  return new Set(words.filter((word) => !/^(src|test|full|tsx?|daemon|feature|e2e|index)$/.test(word)));
}

/** Runs tests with a fault until one fails that does not fail without it. */
async function tryTests(result: Result, batch: readonly string[]): Promise<void> {
  for (;;) {
    const left = batch.filter((test) => !result.passed.includes(test) && !results.unsound.includes(test));
    if (left.length === 0) return;
    plant(result);
    const { failed, cpuSeconds } = await runTests(left, result);
    unplant(result);
    result.cpuSeconds = Math.round((result.cpuSeconds + cpuSeconds) * 10) / 10;
    if (failed === undefined) {
      result.passed.push(...left);
      save();
      return;
    }
    const suspects = failed.by === '' ? left : [failed.by];
    if (failed.by === 'build' || (await passWithoutFault(suspects))) {
      result.found = { ...failed, by: failed.by || left.join(' ') };
      result.hasEnded = true;
      result.passed = [];
      save();
      return;
    }
    for (const test of suspects) process.stderr.write(`${test} fails without a fault, too\n`);
    results.unsound.push(...suspects);
    save();
  }
}

async function passWithoutFault(files: readonly string[]): Promise<boolean> {
  const unknown = files.filter((test) => !results.sound.includes(test));
  if (unknown.length === 0) return true;
  const { failed } = await runTests(unknown, null);
  if (failed === undefined) results.sound.push(...unknown);
  return failed === undefined;
}

interface FileResult {
  name: string;
  status: string;
  message: string;
  assertionResults: { status: string; fullName: string }[];
}

/** The first test that failed; its file is empty for an error outside of tests. */
async function runTests(files: readonly string[], fault: Fault | null) {
  if (files.some((test) => builtTests.has(test)) && built !== fault) {
    const isBuilt = await build(fault);
    if (!isBuilt) return { failed: { by: 'build', test: 'npm run build' }, cpuSeconds: 0 };
  }
  rmSync(vitestResults, { force: true });
  const { output, code, cpuSeconds } = await copy.run('node_modules/vitest/vitest.mjs', [
    'run',
    ...files,
    ...['--bail', '1', '--maxWorkers', maxWorkers, '--reporter=json', `--outputFile=${vitestResults}`],
    ...[`--testTimeout=${timeoutMs}`, `--hookTimeout=${timeoutMs}`],
  ]);
  if (code === 0) return { failed: undefined, cpuSeconds };
  const { testResults }: { testResults: FileResult[] } = existsSync(vitestResults)
    ? JSON.parse(readFileSync(vitestResults, 'utf8'))
    : { testResults: [] };
  const failing = testResults.filter(({ status }) => status === 'failed');
  const failedTest = ({ assertionResults }: FileResult) =>
    assertionResults.find(({ status }) => status === 'failed');
  // Files that are cut short count as failed, too.
  const file = failing.find(failedTest) ?? failing[0];
  if (file === undefined) return { failed: { by: '', test: output.trim().slice(-200) }, cpuSeconds };
  const test = failedTest(file);
  const by = posix.relative(copy.folder, file.name.replaceAll('\\', '/'));
  return { failed: { by, test: test?.fullName ?? file.message.slice(0, 200) }, cpuSeconds };
}

async function build(fault: Fault | null): Promise<boolean> {
  const { code, output } = await copy.run('tools/build/bundle.js', []);
  built = code === 0 ? fault : undefined;
  if (code !== 0 && fault === null) throw new Error(`the build failed:\n${output}`);
  return code === 0;
}

function printResults(): void {
  const checks = new Checks();
  const width = Math.max(...chosen.map(({ path }) => path.length));
  for (const { path, kind, found, cpuSeconds } of chosen) {
    const by = found ? `${found.by}: ${found.test.split('\n')[0]}` : 'NOT FOUND';
    process.stdout.write(`${path.padEnd(width)}  ${kind.padEnd(17)}  ${cpuSeconds} s  ${by}\n`);
  }
  for (const { path, kind, text, replacement, found } of chosen)
    checks.check(found !== null, `no test finds, ${kind} of ${path}: ${text.trim()} → ${replacement.trim()}`);
  checks.finish();
}
