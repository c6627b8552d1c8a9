export { daemonHandlers } from './handlers.ts';
export type { Members } from './members.ts';
export { runJobs } from './run-jobs.ts';
export type { DaemonsStore } from './store.ts';
export { takeOver } from './take-over.ts';
