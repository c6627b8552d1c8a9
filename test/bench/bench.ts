/** Measures what the gateway adds between a client and a provider; docs/performance.md explains the results. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { type AgeId, measureAges } from './ages.ts';
import { cases } from './cases.ts';
import { type MeasuredSystem, measureCases, type Warmth } from './measure.ts';
import { type Cores, chooseCores, residentMb, stopProcess } from './processes.ts';
import { failuresOf, median, type Report, reportText, type Started, slowerCases } from './report.ts';
import { type Program, programsIn, type Running } from './systems.ts';
import { type Load, type Provider, startLoad, startProvider } from './workers.ts';

const usage = `npm run bench -- [options]     (after npm run build)
  --against FOLDER measures another build as well, in the same rounds, and fails if this one takes more CPU
  --postgres       measures this build on a PostgreSQL server, too, whose own CPU is not counted
  --quick          a few minutes; rougher figures, and no rest of a minute
  --only IDS       only these cases: ages, ${cases.map(({ id }) => id).join(', ')}
  --processes N    processes of each program, whose calls are measured by age (3)
  --rounds N       rounds of each case (3)
  --seconds S      measured in each round, of each program (3)
  --json FILE      writes every measurement to this file as well
`;

interface Options {
  against: string | undefined;
  hasPostgres: boolean;
  only: string[] | undefined;
  processes: number;
  /** The last age of a process that is measured. */
  until: AgeId;
  rounds: number;
  measuredMs: number;
  starts: number;
  warmth: Warmth;
  jsonFile: string | undefined;
}

function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args,
    options: {
      quick: flag,
      help: flag,
      postgres: flag,
      against: text,
      only: text,
      processes: text,
      rounds: text,
      seconds: text,
      json: text,
    },
  });
  if (values.help) return undefined;
  const only = values.only?.split(',');
  const unknown = only?.find((id) => id !== 'ages' && !cases.some((it) => it.id === id));
  if (unknown !== undefined) throw new TypeError(`There is no case ${unknown}.`);
  for (const name of ['processes', 'rounds', 'seconds'] as const) {
    if (values[name] !== undefined && !(Number(values[name]) > 0))
      throw new TypeError(`--${name} takes a number above 0.`);
  }
  const against = values.against === undefined ? undefined : resolve(values.against);
  if (against !== undefined && !isBuilt(against)) throw new TypeError(`${against} contains no build.`);
  return {
    against,
    hasPostgres: values.postgres === true,
    only,
    processes: Number(values.processes ?? (values.quick ? 1 : 3)),
    until: values.quick ? 'rested' : 'long-rested',
    rounds: Number(values.rounds ?? (values.quick ? 2 : 3)),
    measuredMs: Number(values.seconds ?? (values.quick ? 0.8 : 3)) * 1000,
    starts: values.quick ? 3 : 7,
    warmth: values.quick ? { calls: 4_000, tokens: 100_000 } : { calls: 20_000, tokens: 500_000 },
    jsonFile: values.json,
  };
}

function isBuilt(checkout: string): boolean {
  return existsSync(join(checkout, 'dist/daemon.js'));
}

/** Progress goes to stderr, so that a pipe gets the table alone. */
const tell = (line: string) => process.stderr.write(`${line}\n`);

/** Starts each program repeatedly, in turns; the last of its starts is the one that is measured. */
async function startOften(programs: readonly Program[], starts: number) {
  tell('starts');
  const systems: Array<MeasuredSystem & { started: Started }> = [];
  const figures = new Map<Program, Started>();
  for (let round = 0; round <= starts; round += 1) {
    for (const program of programs) {
      const running = await program.start();
      const { listeningAfterMs, answeredAfterMs } = running;
      const start = { listeningAfterMs, answeredAfterMs };
      const started = figures.get(program) ?? { first: start, later: [] };
      if (round > 0) started.later.push(start);
      figures.set(program, started);
      if (round < starts) await running.stop();
      else systems.push({ name: program.name, isGateway: program.isGateway, running, started });
    }
  }
  return systems;
}

async function measure(
  options: Options,
  programs: readonly Program[],
  { provider, load }: { provider: Provider; load: Load },
) {
  const kinds = cases.filter(({ id }) => options.only?.includes(id) ?? true);
  if (kinds.length === 0)
    return { systems: programs.map(({ name }) => name), segments: [], starts: {}, residentMb: {} };
  const systems = await startOften(programs, options.starts);
  const memoryOf = ({ process }: Running) => residentMb(process.pid);
  try {
    await sleep(1500);
    const idle = systems.map(({ running }) => memoryOf(running));
    const segments = await measureCases(kinds, { ...options, load, provider, systems }, tell);
    await sleep(1500);
    return {
      systems: systems.map(({ name }) => name),
      segments,
      starts: Object.fromEntries(systems.map(({ name, started }) => [name, started])),
      residentMb: Object.fromEntries(
        systems.map(({ name, running }, at) => [
          name,
          { idle: idle[at] ?? Number.NaN, after: memoryOf(running) },
        ]),
      ),
    };
  } finally {
    await Promise.all(systems.map(({ running }) => running.stop()));
  }
}

async function bench(options: Options): Promise<Report> {
  const cores: Cores = chooseCores();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const [provider, load, server] = await Promise.all([
    startProvider(cores.others),
    startLoad(cores.others),
    options.hasPostgres ? startPostgres({ isDurable: true }) : undefined,
  ]);
  try {
    const place = { folder, providerPort: provider.port, core: cores.gateway };
    const others = { postgres: await server?.newDatabase(), against: options.against };
    const programs = programsIn(place, others);
    const isWanted = options.only?.includes('ages') ?? true;
    // The other floor waits for nothing, and says nothing about how soon a process is warm.
    const aging = isWanted ? programs.filter(({ name }) => name !== 'floor') : [];
    const aged = await measureAges(aging, { processes: options.processes, until: options.until, load, tell });
    const measured = await measure(options, programs, { provider, load });
    const taken = measured.segments.flatMap(({ systems }) =>
      Object.values(systems).map(({ othersCores }) => othersCores),
    );
    return {
      at: new Date().toISOString(),
      node: process.version,
      processor: cpus()[0]?.model.trim() ?? 'unknown processor',
      cores: availableParallelism(),
      isPinned: cores.gateway !== undefined,
      rounds: options.rounds,
      measuredMs: options.measuredMs,
      othersCores: { median: median(taken), most: Math.max(0, ...taken) },
      aged,
      ...measured,
    };
  } finally {
    await Promise.all([stopProcess(provider.process), stopProcess(load.process), server?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  tell(`${(error as Error).message}\n\n${usage}`);
  process.exit(2);
}
if (!options) process.stdout.write(usage);
else if (!isBuilt(join(import.meta.dirname, '../..'))) {
  tell('Nothing is built yet: npm run build');
  process.exitCode = 1;
} else {
  const report = await bench(options);
  process.stdout.write(reportText(report));
  if (options.jsonFile) writeFileSync(options.jsonFile, `${JSON.stringify(report, undefined, 1)}\n`);
  const slower = slowerCases(report);
  for (const title of slower) tell(`slower than the other build: ${title}`);
  if (failuresOf(report) > 0 || slower.length > 0) process.exitCode = 1;
}
