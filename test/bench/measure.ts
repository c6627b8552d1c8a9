import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, cases, type Target, taskOf } from './cases.ts';
import type { LoadResult } from './load-task.ts';
import { cpuSeconds, cpuSecondsByThread, machineCpuSeconds, type ThreadKind } from './processes.ts';
import type { Running, SystemName } from './systems.ts';
import type { Load, Provider } from './workers.ts';

export interface Measured extends LoadResult {
  /** Processor time a request, milliseconds; NaN for the provider alone. */
  cpuMsPerRequest: number;
  /** The same of each kind of thread, where they are counted. */
  threadMsPerRequest: Partial<Record<ThreadKind, number>>;
  /** Cores taken by programs that are no part of the bench. */
  othersCores: number;
}

/** One case, measured on every system in turn. */
export interface Round {
  caseId: string;
  systems: Partial<Record<SystemName, Measured>>;
}

export interface MeasuredSystem {
  name: SystemName;
  isGateway: boolean;
  running: Running;
}

export interface Measuring {
  load: Load;
  provider: Provider;
  systems: readonly MeasuredSystem[];
  rounds: number;
  measuredMs: number;
  warmth: Warmth;
}

/** What each program has done in each format before it is measured. */
export interface Warmth {
  calls: number;
  tokens: number;
}

/** Few calls take little CPU: slow rates are measured longer. */
const slowFactor = 3;
const slowBelow = 100;
const warmupMsMax = 60_000;

/** Runs every case on all systems in turn; who goes first changes from round to round. */
export async function measureCases(
  kinds: readonly Case[],
  on: Measuring,
  tell: (line: string) => void,
): Promise<Round[]> {
  const targets: Array<Target & { name: SystemName }> = [
    { name: 'direct', port: on.provider.port, headers: {}, isGateway: false },
    ...on.systems.map(({ name, isGateway, running: { port, headers } }) => ({
      name,
      isGateway,
      port,
      headers,
    })),
  ];
  tell('warming up');
  for (const target of targets) await warmUp(kinds, target, on);
  const rounds: Round[] = [];
  for (const kind of kinds) {
    tell(kind.title);
    for (const target of targets) await segment(kind, target, { ...on, measuredMs: 300 });
    for (let round = 0; round < on.rounds; round += 1) {
      const systems: Round['systems'] = {};
      const turn = round % targets.length;
      for (const target of [...targets.slice(turn), ...targets.slice(0, turn)])
        systems[target.name] = await segment(kind, target, on);
      rounds.push({ caseId: kind.id, systems });
    }
  }
  return rounds;
}

/** The closed loops and streams of the formats that are measured, or of chat completions. */
async function warmUp(kinds: readonly Case[], target: Target, { load, warmth }: Measuring): Promise<void> {
  const measured = kinds.filter(
    ({ shows, connections }) => shows === 'answers' || (shows === 'tokens' && connections < 64),
  );
  const always = cases.filter(({ id }) => id === 'most-chat' || id === 'streams-16-chat');
  for (const kind of new Set([...always, ...measured])) {
    const answersMax = kind.isStream ? Math.ceil(warmth.tokens / kind.behaviour.tokens) : warmth.calls;
    await load.run(taskOf(kind, target, { warmupMs: 0, measuredMs: warmupMsMax, answersMax }));
  }
}

async function segment(
  kind: Case,
  target: Target & { name: SystemName },
  { load, provider, systems, measuredMs }: Measuring,
): Promise<Measured> {
  const measured = systems.find(({ name }) => name === target.name)?.running.process.pid;
  const pids = [process.pid, load.process.pid, provider.process.pid];
  const ours = [...pids, ...systems.map(({ running }) => running.process.pid)];
  const read = () => ({
    at: performance.now(),
    machine: machineCpuSeconds(),
    system: measured === undefined ? Number.NaN : cpuSeconds(measured),
    threads: cpuSecondsByThread(measured),
    ours: ours.reduce<number>((sum, pid) => sum + cpuSeconds(pid), 0),
  });
  const isSlow = kind.perSecond !== undefined && kind.perSecond < slowBelow;
  const before = read();
  const result = await load.run(
    taskOf(kind, target, { warmupMs: 250, measuredMs: isSlow ? measuredMs * slowFactor : measuredMs }),
  );
  const after = read();
  const seconds = (after.at - before.at) / 1000;
  const others = after.machine - before.machine - (after.ours - before.ours);
  await sleep(100);
  const msPerRequest = (from = 0, to = 0) => ((to - from) / result.served) * 1000;
  return {
    ...result,
    cpuMsPerRequest: msPerRequest(before.system, after.system),
    threadMsPerRequest: Object.fromEntries(
      Object.entries(after.threads).map(([kind, seconds]) => [
        kind,
        msPerRequest(before.threads[kind as ThreadKind], seconds),
      ]),
    ),
    othersCores: Math.max(0, others / seconds),
  };
}
