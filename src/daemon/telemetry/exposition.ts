import type { Counter, Metric, Registry } from 'prom-client';
import type { Family } from '../features/metrics/index.ts';

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

/** Sampling interval of the event loop's delay after the first scrape, in milliseconds. */
const resolutionMs = 50;

/** Gauges with counter names, and a minimum delay of 292 years before the first sample. */
const leftOut = [
  ...['nodejs_active_resources', 'nodejs_active_resources_total'],
  ...['nodejs_active_handles', 'nodejs_active_handles_total'],
  ...['nodejs_active_requests', 'nodejs_active_requests_total'],
  'nodejs_eventloop_lag_min_seconds',
];

/** Memory, CPU, event loop and garbage collection metrics of this process. */
async function processMetrics(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  const { user, system } = process.cpuUsage();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: resolutionMs });
  // The library counts from when it is loaded, at the first scrape.
  const addTo = (name: string, microseconds: number) =>
    (registry.getSingleMetric(name) as Counter).inc(microseconds / 1e6);
  addTo('process_cpu_user_seconds_total', user);
  addTo('process_cpu_system_seconds_total', system);
  addTo('process_cpu_seconds_total', user + system);
  for (const name of leftOut) registry.removeSingleMetric(name);
  return registry;
}
