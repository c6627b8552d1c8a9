/**
 * What a call costs by the age of the process that serves it. V8 interprets what is new, compiles what is hot and forgets what rests: a
 * gateway on a laptop serves a few hundred calls between two rests and never gets as fast as in a long closed loop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cases, taskOf } from './cases.ts';
import { cpuSecondsByThread, type ThreadKind } from './processes.ts';
import type { Program, Running, SystemName } from './systems.ts';
import type { Load } from './workers.ts';

/** In the order in which a process reaches them. */
export const ages = [
  { id: 'first', title: 'the first 200 calls after start and rest, at 100/s' },
  { id: 'second', title: 'the next second of a closed loop' },
  { id: 'steady', title: 'closed loop once its cost no longer falls' },
  { id: 'rested', title: 'closed loop, the first second after a rest of 3 s' },
  { id: 'long-rested', title: 'closed loop, the first second after a rest of 60 s' },
] as const;

export type AgeId = (typeof ages)[number]['id'];

/** CPU a call in milliseconds: of all threads, and of each kind. */
export interface AgeCost {
  all: number;
  threads: Partial<Record<ThreadKind, number>>;
  calls: number;
  failures: Record<string, number>;
  failed: number;
}

/** One process of a program, from its start on. */
export interface AgedProcess {
  system: SystemName;
  costs: Partial<Record<AgeId, AgeCost>>;
  /** How many calls it had answered when the cost of a window no longer fell; undefined if that was not waited for. */
  steadyAfter: number | undefined;
}

interface AgePlan {
  processes: number;
  /** The last age that is measured. */
  until: AgeId;
  /**
   * How many calls stand for the next second: beside other work, a program answers fewer of them in one, which are colder and cost more
   * each. The second itself if it is left out.
   */
  secondCalls?: number;
}

const atRest = { afterStartMs: 2_000, rested: 3_000, longRested: 60_000 };
const firstMs = 2_000;
const windowMs = 1_000;
/** So many calls are answered long before. */
const callsMsMax = 60_000;
const windowsMax = 60;
/** Fewer calls say nothing: V8 compiles hot code after some thousand. */
const steadyCallsMin = 5_000;
/** A window must be cheaper than the cheapest before it by this factor to count as a fall; so many in a row that are not end it. */
const fallBelow = 0.97;
const flatWindows = 4;
const steadyWindows = 3;

/** Measures some processes of each program, one after another and the programs in turns. */
export async function measureAges(
  programs: readonly Program[],
  { processes, load, tell, ...plan }: AgePlan & { load: Load; tell: (line: string) => void },
): Promise<AgedProcess[]> {
  const measured: AgedProcess[] = [];
  for (let round = 0; round < processes; round += 1) {
    for (const program of programs) {
      tell(`ages of ${program.name}, process ${round + 1} of ${processes}`);
      const running = await program.start();
      try {
        measured.push(await ageOf(program, running, plan, load));
      } finally {
        await running.stop();
      }
    }
  }
  return measured;
}

async function ageOf(
  { name, isGateway }: Program,
  { process: { pid }, port, headers }: Running,
  { until, secondCalls }: Pick<AgePlan, 'until' | 'secondCalls'>,
  load: Load,
): Promise<AgedProcess> {
  const costs: AgedProcess['costs'] = {};
  const paced = cases.find(({ id }) => id === 'rate-100');
  const closed = cases.find(({ id }) => id === 'most-chat');
  if (paced === undefined || closed === undefined) throw new TypeError('a case of the ages is missing');
  const measure = async (kind: typeof paced, measuredMs: number, answersMax?: number): Promise<AgeCost> => {
    const before = cpuSecondsByThread(pid);
    const time = { warmupMs: 0, measuredMs, ...(answersMax !== undefined && { answersMax }) };
    const result = await load.run(taskOf(kind, { port, headers, isGateway }, time));
    const after = Object.entries(cpuSecondsByThread(pid)) as Array<[ThreadKind, number]>;
    const threads = Object.fromEntries(
      after.map(([thread, seconds]) => [thread, ((seconds - (before[thread] ?? 0)) / result.served) * 1000]),
    );
    const all = Object.values(threads).reduce((sum, ms) => sum + ms, 0);
    const { served: calls, failures, failed } = result;
    return { all, threads, calls, failures, failed };
  };
  const isWanted = (id: AgeId) =>
    ages.findIndex((age) => age.id === id) <= ages.findIndex((age) => age.id === until);
  const aged = { system: name, costs, steadyAfter: undefined };
  await sleep(atRest.afterStartMs);
  costs.first = await measure(paced, firstMs);
  costs.second = await measure(closed, secondCalls === undefined ? windowMs : callsMsMax, secondCalls);
  if (!isWanted('steady')) return aged;
  let answered = costs.first.calls + costs.second.calls;
  let cheapest = Number.POSITIVE_INFINITY;
  let steadyAfter = answered;
  for (
    let [window, flat] = [0, 0];
    window < windowsMax && (flat < flatWindows || answered < steadyCallsMin);
    window += 1
  ) {
    const { all, calls } = await measure(closed, windowMs);
    if (all < cheapest * fallBelow) [flat, steadyAfter] = [0, answered];
    else flat += 1;
    cheapest = Math.min(cheapest, all);
    answered += calls;
  }
  costs.steady = await measure(closed, steadyWindows * windowMs);
  for (const [id, restMs] of [
    ['rested', atRest.rested],
    ['long-rested', atRest.longRested],
  ] as const) {
    if (!isWanted(id)) break;
    await sleep(restMs);
    costs[id] = await measure(closed, windowMs);
  }
  return { ...aged, steadyAfter };
}
