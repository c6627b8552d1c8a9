export { AutopilotRuns } from './autopilot-runs.ts';
export { type Autopilots, autopilots } from './autopilots.ts';
export { autopilotHandlers } from './handlers.ts';
export { toolInputs, type WebAnswer, type WebRequest } from './http-tools.ts';
export type { AutopilotRecord, AutopilotsStore } from './store.ts';
