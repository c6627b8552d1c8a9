/** Measures what keeping the content of calls costs: the closed loop with `memory` and `disk` against `off`, in turns. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Case, cases, taskOf } from './cases.ts';
import { prepareHome, startGateway } from './gateway-process.ts';
import { chooseCores, cpuSeconds, stopProcess } from './processes.ts';
import { median } from './report.ts';
import type { Running } from './systems.ts';
import { type Load, type Provider, startLoad, startProvider } from './workers.ts';

const usage = `npm run bench -- capture [options]     (after npm run build)
  --case ID     the case (most-chat)
  --rounds N    rounds, in each of which every level is measured (10)
  --seconds S   of each measurement (2)
`;

const levels = ['off', 'memory', 'disk'] as const;

type Level = (typeof levels)[number];

interface Figures {
  perSecond: number;
  /** Processor time a call, milliseconds. */
  cpuMs: number;
}

interface Bench {
  load: Load;
  kind: Case;
  gateways: Record<Level, Running>;
}

async function measure({ load, kind, gateways }: Bench, level: Level, measuredMs: number): Promise<Figures> {
  const { process: child, port, headers } = gateways[level];
  const before = cpuSeconds(child.pid);
  const result = await load.run(
    taskOf(kind, { port, headers, isGateway: true }, { warmupMs: 0, measuredMs }),
  );
  const cpuMs = ((cpuSeconds(child.pid) - before) / result.served) * 1000;
  return { perSecond: (result.served / measuredMs) * 1000, cpuMs };
}

/** Of each round, the levels are compared with each other: the machine may be slower in the next one. */
async function compare(bench: Bench, { rounds, measuredMs }: { rounds: number; measuredMs: number }) {
  const all: Record<Level, Figures[]> = { off: [], memory: [], disk: [] };
  for (const level of levels) await measure(bench, level, 5_000);
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % levels.length;
    for (const level of [...levels.slice(turn), ...levels.slice(0, turn)])
      all[level].push(await measure(bench, level, measuredMs));
  }
  for (const level of levels) {
    const ratio = (of: keyof Figures) =>
      median(all[level].map((figures, round) => figures[of] / (all.off[round]?.[of] ?? Number.NaN)));
    const perSecond = median(all[level].map((figures) => figures.perSecond));
    const cpuMs = median(all[level].map((figures) => figures.cpuMs));
    process.stdout.write(
      `${level.padEnd(8)}${perSecond.toFixed(0).padStart(7)} calls/s${cpuMs.toFixed(3).padStart(8)} ms of CPU a call; ` +
        `against off: ${ratio('perSecond').toFixed(3)} of the calls/s, ${ratio('cpuMs').toFixed(3)} of the CPU\n`,
    );
  }
}

async function run(): Promise<void> {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { case: string, rounds: string, seconds: string, help: { type: 'boolean' } },
  });
  const kind = cases.find(({ id }) => id === (values.case ?? 'most-chat'));
  if (values.help || kind === undefined) {
    process.stdout.write(usage);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gateway-capture-'));
  const cores = chooseCores();
  const [provider, load]: [Provider, Load] = await Promise.all([
    startProvider(cores.others),
    startLoad(cores.others),
  ]);
  const started: Running[] = [];
  try {
    const start = async (level: Level): Promise<Running> => {
      const home = join(folder, level);
      prepareHome(home, provider.port, `capture: {content: ${level}}\n`);
      const program = join(import.meta.dirname, '../../bin/gateway.js');
      const running = await startGateway(program, home, cores.gateway);
      started.push(running);
      return running;
    };
    const gateways = { off: await start('off'), memory: await start('memory'), disk: await start('disk') };
    const measuredMs = Number(values.seconds ?? 2) * 1000;
    await compare({ load, kind, gateways }, { rounds: Number(values.rounds ?? 10), measuredMs });
  } finally {
    await Promise.all(started.map((running) => running.stop()));
    await Promise.all([stopProcess(provider.process), stopProcess(load.process)]);
    rmSync(folder, { recursive: true, force: true });
  }
}

await run();
