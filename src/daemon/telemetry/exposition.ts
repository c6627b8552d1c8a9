import type { Metric, Registry } from 'prom-client';
import type { Family } from '../features/metrics/index.ts';

/** How often the delay of the event loop is measured once somebody reads it, in milliseconds. */
const resolutionMs = 50;

/**
 * Writes families of lines in the text format of Prometheus, after those of the process. The library is loaded by the first
 * reader: nobody else pays for it.
 */
export function expositionWriter() {
  let process: Promise<Registry> | undefined;
  return async (families: readonly Family[]): Promise<string> => {
    process ??= processMetrics();
    const ofProcess = await process;
    const { Registry } = await import('prom-client');
    const registry = new Registry();
    for (const family of families) registry.registerMetric(readable(family));
    // What nothing was measured of yet is written in another case than the format has it.
    const own = (await ofProcess.metrics()).replace(/ Nan$/gm, ' NaN');
    return `${own}\n${await registry.metrics()}`;
  };
}

async function processMetrics(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: resolutionMs });
  return registry;
}

/** The library asks a metric of its own for its values; ours have theirs. */
function readable(family: Family): Metric {
  return { name: family.name, get: async () => family } as unknown as Metric;
}
