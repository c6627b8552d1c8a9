export { traceHandlers } from './handlers.ts';
export { SettledTimes } from './settled-times.ts';
export type { TracesFilter, TracesStore } from './store.ts';
