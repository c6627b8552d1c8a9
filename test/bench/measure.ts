import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, type Target, taskOf } from './cases.ts';
import type { RunningGateway } from './gateway-process.ts';
import type { LoadResult } from './load-task.ts';
import { cpuSeconds, machineCpuSeconds } from './processes.ts';
import type { Load, Provider } from './workers.ts';

export interface Measured extends LoadResult {
  /** Processor time of the gateway a request, milliseconds; 0 for the provider alone. */
  cpuMsPerRequest: number;
  /** Cores taken by programs that are no part of the bench. */
  othersCores: number;
}

export interface Round {
  caseId: string;
  direct: Measured;
  gateway: Measured;
}

export interface Measuring {
  load: Load;
  provider: Provider;
  gateway: RunningGateway;
  rounds: number;
  measuredMs: number;
}

/** Runs every case, direct and through the gateway in turn; who goes first changes from round to round. */
export async function measureCases(kinds: readonly Case[], on: Measuring, tell: (line: string) => void) {
  const direct: Target = { port: on.provider.port, headers: {}, isGateway: false };
  const gateway: Target = { port: on.gateway.port, headers: on.gateway.headers, isGateway: true };
  const rounds: Round[] = [];
  for (const kind of kinds) {
    tell(kind.title);
    // The first load compiles what is hot, in the clients too.
    for (const target of [direct, gateway]) await segment(kind, target, { ...on, measuredMs: 300 });
    for (let round = 0; round < on.rounds; round += 1) {
      const results = new Map<Target, Measured>();
      for (const target of round % 2 === 0 ? [direct, gateway] : [gateway, direct])
        results.set(target, await segment(kind, target, on));
      rounds.push({
        caseId: kind.id,
        direct: results.get(direct) as Measured,
        gateway: results.get(gateway) as Measured,
      });
    }
  }
  return rounds;
}

async function segment(kind: Case, target: Target, on: Measuring): Promise<Measured> {
  const ours = [process.pid, on.load.process.pid, on.provider.process.pid, on.gateway.process.pid];
  const read = () => ({
    at: performance.now(),
    machine: machineCpuSeconds(),
    gateway: cpuSeconds(on.gateway.process.pid),
    ours: ours.reduce<number>((sum, pid) => sum + cpuSeconds(pid), 0),
  });
  const before = read();
  const result = await on.load.run(taskOf(kind, target, { warmupMs: 250, measuredMs: on.measuredMs }));
  const after = read();
  const seconds = (after.at - before.at) / 1000;
  const others = after.machine - before.machine - (after.ours - before.ours);
  await sleep(100);
  return {
    ...result,
    cpuMsPerRequest: target.isGateway ? ((after.gateway - before.gateway) / result.served) * 1000 : 0,
    othersCores: Math.max(0, others / seconds),
  };
}
