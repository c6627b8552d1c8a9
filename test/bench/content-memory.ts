/** Measures the memory of a daemon that keeps as much content of calls as it may, against one that keeps none. */

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dataFiles } from '../../src/shared/folders.ts';
import { prepareHome, startGateway } from './gateway-process.ts';
import { residentMb, stopProcess } from './processes.ts';
import { median } from './report.ts';
import type { Running } from './systems.ts';
import { modelName, paths } from './wires.ts';
import { startProvider } from './workers.ts';

const usage = `npm run bench -- content-memory [options]     (after npm run build)
  --calls N     calls; more than 32 MiB hold (170)
  --kb N        of each prompt, which does not compress (300)
  --rate N      calls a second (6)
  --rest S      seconds after them (20)
  --rounds N    rounds, in each of which a daemon without and one with content is started and measured (3)
  --program F   the gateway that is measured (that of this folder)
`;

const levels = ['off', 'memory'] as const;
/** After as many calls, the content is asked for: first the thread stores what waits, so that nothing is dropped. */
const askedEvery = 4;

/** Megabytes. */
interface Figures {
  idle: number;
  highest: number;
  rested: number;
}

interface Plan {
  home: string;
  calls: number;
  promptBytes: number;
  perSecond: number;
  restMs: number;
}

/** `kept`: of how many calls the content is kept in the end. */
async function measure(running: Running, plan: Plan): Promise<{ figures: Figures; kept: number }> {
  await sleep(3_000);
  const { pid } = running.process;
  const idle = residentMb(pid);
  let highest = idle;
  const startedAt = performance.now();
  for (let call = 0; call < plan.calls; call += 1) {
    await sleep(Math.max(0, startedAt + (call * 1_000) / plan.perSecond - performance.now()));
    await ask(running, plan.promptBytes);
    if (call % askedEvery === 0) await keptCalls(running, plan.home);
    highest = Math.max(highest, residentMb(pid));
  }
  await sleep(plan.restMs);
  const rested = residentMb(pid);
  return { figures: { idle, highest, rested }, kept: await keptCalls(running, plan.home) };
}

async function ask({ port, headers }: Running, promptBytes: number): Promise<void> {
  const content = randomBytes((promptBytes * 3) / 4).toString('base64');
  const model = `mock-chat/${modelName({ tokens: 50, delayMs: 0 })}`;
  const answer = await fetch(`http://127.0.0.1:${port}${paths.chat}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the answer was ${answer.status}: ${text}`);
}

async function keptCalls({ port }: Running, home: string): Promise<number> {
  const login = readFileSync(join(home, dataFiles.login), 'utf8').trim();
  const headers = { authorization: `Bearer ${login}` };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/capture`, { headers });
  return ((await answer.json()) as { requests: number }).requests;
}

async function run(): Promise<void> {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      calls: string,
      kb: string,
      rate: string,
      rest: string,
      rounds: string,
      program: string,
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const program = values.program ?? join(import.meta.dirname, '../../bin/gateway.js');
  const folder = mkdtempSync(join(tmpdir(), 'gateway-content-memory-'));
  const provider = await startProvider(undefined);
  const all = { off: [] as Figures[], memory: [] as Figures[] };
  try {
    for (let round = 0; round < Number(values.rounds ?? 3); round += 1) {
      for (const level of levels) {
        const home = join(folder, `${level}-${round}`);
        prepareHome(home, provider.port, `capture: {content: ${level}}\n`);
        const running = await startGateway(program, home, undefined);
        try {
          const { figures, kept } = await measure(running, {
            home,
            calls: Number(values.calls ?? 170),
            promptBytes: Number(values.kb ?? 300) * 1_000,
            perSecond: Number(values.rate ?? 6),
            restMs: Number(values.rest ?? 20) * 1_000,
          });
          all[level].push(figures);
          process.stdout.write(`${lineOf(level, figures)}, ${kept} calls kept\n`);
        } finally {
          await running.stop();
        }
      }
    }
  } finally {
    await stopProcess(provider.process);
    rmSync(folder, { recursive: true, force: true });
  }
  for (const level of levels) {
    const of = (name: keyof Figures) => median(all[level].map((figures) => figures[name]));
    process.stdout.write(
      `median ${lineOf(level, { idle: of('idle'), highest: of('highest'), rested: of('rested') })}\n`,
    );
  }
}

function lineOf(level: string, { idle, highest, rested }: Figures): string {
  const megabytes = (value: number) => `${value.toFixed(0).padStart(4)} MB`;
  return `${level.padEnd(8)}${megabytes(idle)} when idle,${megabytes(highest)} at most,${megabytes(rested)} at rest`;
}

await run();
