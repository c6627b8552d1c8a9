export { type AnsweredRequest, Counters } from './counters.ts';
export { type Family, families, type Gauges, type Sample } from './families.ts';
export { metricsHandlers } from './handlers.ts';
