export { autopilots } from './autopilots.ts';
export { autopilotHandlers } from './handlers.ts';
export type { AutopilotRecord, AutopilotsStore } from './store.ts';
