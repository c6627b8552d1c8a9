export { AutopilotRuns } from './autopilot-runs.ts';
export { createAutopilots } from './autopilots.ts';
export { autopilotHandlers } from './handlers.ts';
export { toolInputs, type WebAnswer, type WebRequest } from './http-tools.ts';
export { scheduledRunner } from './runner.ts';
export { Schedules } from './schedules.ts';
