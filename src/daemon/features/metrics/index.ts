export { type AnsweredRequest, Counters } from './counters.ts';
export { type Family, families } from './families.ts';
export { metricsHandlers } from './handlers.ts';
