export { Alerts } from './alerts.ts';
export { Deliveries } from './deliveries.ts';
export { alertHandlers } from './handlers.ts';
export { Hooks } from './hooks.ts';
export { createSampler } from './samples.ts';
