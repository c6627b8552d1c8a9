export { SettlementDurations, traceHandlers } from './handlers.ts';
export { Rejections, reasonOf, rejectionEvent } from './rejections.ts';
export type { Rejection, RejectionsFilter, TracesFilter, TracesStore } from './store.ts';
