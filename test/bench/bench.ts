/** Measures what the gateway adds between a client and a provider; docs/performance.md explains the results. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cases } from './cases.ts';
import { prepareHome, type RunningGateway, startGateway } from './gateway-process.ts';
import { type Measuring, measureCases } from './measure.ts';
import { type Cores, chooseCores, residentMb, stopProcess } from './processes.ts';
import { failuresOf, median, type Report, reportText, type Start } from './report.ts';
import { type Load, type Provider, startLoad, startProvider } from './workers.ts';

const usage = `npm run bench -- [options]     (after npm run build)
  --quick          under a minute; rougher figures
  --only IDS       only these cases: ${cases.map(({ id }) => id).join(', ')}
  --rounds N       rounds of each case (3)
  --seconds S      measured in each round, direct and through the gateway (3)
  --json FILE      writes every measurement to this file as well
`;

interface Options {
  only: string[] | undefined;
  rounds: number;
  measuredMs: number;
  starts: number;
  jsonFile: string | undefined;
}

function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args,
    options: { quick: flag, help: flag, only: text, rounds: text, seconds: text, json: text },
  });
  if (values.help) return undefined;
  const only = values.only?.split(',');
  const unknown = only?.find((id) => !cases.some((it) => it.id === id));
  if (unknown !== undefined) throw new TypeError(`There is no case ${unknown}.`);
  for (const name of ['rounds', 'seconds'] as const) {
    if (values[name] !== undefined && !(Number(values[name]) > 0))
      throw new TypeError(`--${name} takes a number above 0.`);
  }
  return {
    only,
    rounds: Number(values.rounds ?? (values.quick ? 2 : 3)),
    measuredMs: Number(values.seconds ?? (values.quick ? 0.8 : 3)) * 1000,
    starts: values.quick ? 3 : 7,
    jsonFile: values.json,
  };
}

/** Progress goes to stderr, so that a pipe gets the table alone. */
const tell = (line: string) => process.stderr.write(`${line}\n`);

interface Started {
  firstStart: Start;
  laterStarts: Start[];
  gateway: RunningGateway;
}

/** The last of the starts is the gateway that is measured. */
async function startOften(folder: string, cores: Cores, starts: number): Promise<Started> {
  tell('starts');
  const figures: Start[] = [];
  for (;;) {
    const gateway = await startGateway(folder, cores.gateway);
    const { listeningAfterMs, answeredAfterMs } = gateway;
    figures.push({ listeningAfterMs, answeredAfterMs });
    const [firstStart, ...laterStarts] = figures;
    if (firstStart && laterStarts.length === starts) return { firstStart, laterStarts, gateway };
    await gateway.stop();
  }
}

async function measure(
  options: Options,
  cores: Cores,
  to: { provider: Provider; load: Load; folder: string },
) {
  const { provider, load, folder } = to;
  prepareHome(folder, provider.port);
  const { gateway, ...starts } = await startOften(folder, cores, options.starts);
  try {
    await sleep(1500);
    const idle = residentMb(gateway.process.pid);
    const on: Measuring = { ...options, load, provider, gateway };
    const kinds = cases.filter(({ id }) => options.only?.includes(id) ?? true);
    const segments = await measureCases(kinds, on, tell);
    await sleep(1500);
    return { ...starts, segments, residentMb: { idle, after: residentMb(gateway.process.pid) } };
  } finally {
    await gateway.stop();
  }
}

async function bench(options: Options): Promise<Report> {
  const cores = chooseCores();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const [provider, load] = await Promise.all([startProvider(cores.others), startLoad(cores.others)]);
  try {
    const measured = await measure(options, cores, { provider, load, folder });
    const taken = measured.segments.flatMap(({ direct, gateway }) => [
      direct.othersCores,
      gateway.othersCores,
    ]);
    return {
      at: new Date().toISOString(),
      node: process.version,
      processor: cpus()[0]?.model.trim() ?? 'unknown processor',
      cores: availableParallelism(),
      isPinned: cores.gateway !== undefined,
      rounds: options.rounds,
      measuredMs: options.measuredMs,
      othersCores: { median: median(taken), most: Math.max(...taken) },
      ...measured,
    };
  } finally {
    await Promise.all([stopProcess(provider.process), stopProcess(load.process)]);
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
else if (!existsSync(new URL('../../dist/daemon.js', import.meta.url))) {
  tell('Nothing is built yet: npm run build');
  process.exitCode = 1;
} else {
  const report = await bench(options);
  process.stdout.write(reportText(report));
  if (options.jsonFile) writeFileSync(options.jsonFile, `${JSON.stringify(report, undefined, 1)}\n`);
  if (failuresOf(report) > 0) process.exitCode = 1;
}
