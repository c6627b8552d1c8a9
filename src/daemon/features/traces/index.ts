export { traceHandlers } from './handlers.ts';
export type { TracesFilter, TracesStore } from './traces-store.ts';
