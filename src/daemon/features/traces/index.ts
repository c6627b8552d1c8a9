export { traceHandlers } from './handlers.ts';
export { Rejections, reasonOf, rejectionEvent } from './rejections.ts';
export { SettlementDurations } from './settlement-durations.ts';
export type { Rejection, RejectionsFilter, TracesFilter, TracesStore } from './store.ts';
