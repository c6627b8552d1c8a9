import type { Metric, Registry } from 'prom-client';
import type { Family } from '../features/metrics/index.ts';
import { processMetrics } from './process-metrics.ts';

/**
 * Writes metric families in the Prometheus text format, after those of the process. The library is loaded on the first
 * scrape.
 */
export function expositionWriter() {
  let process: Promise<Registry> | undefined;
  return async (families: readonly Family[]): Promise<string> => {
    process ??= processMetrics();
    const ofProcess = await process;
    const { Registry } = await import('prom-client');
    const registry = new Registry();
    for (const family of families) registry.registerMetric(readable(family));
    // The library writes NaN in a different case than the format requires.
    const own = (await ofProcess.metrics()).replace(/ Nan$/gm, ' NaN');
    return `${own}\n${await registry.metrics()}`;
  };
}

/** The library collects its own metrics; ours already have values. */
function readable(family: Family): Metric {
  return { name: family.name, get: async () => family } as unknown as Metric;
}
