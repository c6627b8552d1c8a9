export { autopilots } from './autopilots.ts';
export type { AutopilotRecord, AutopilotsStore } from './autopilots-store.ts';
export { autopilotHandlers } from './handlers.ts';
