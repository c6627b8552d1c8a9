import type { Counter, Registry } from 'prom-client';

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
export async function processMetrics(): Promise<Registry> {
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
