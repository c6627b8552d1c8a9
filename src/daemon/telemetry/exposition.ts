import type { Metric, Registry } from 'prom-client';
import type { Family } from '../features/metrics/index.ts';
import { processMetrics } from './process-metrics.ts';

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

/** The library asks a metric of its own for its values; ours have theirs. */
function readable(family: Family): Metric {
  return { name: family.name, get: async () => family } as unknown as Metric;
}
