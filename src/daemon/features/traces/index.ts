export { traceHandlers } from './handlers.ts';
export { Rejections, reasonOf, rejectionEvent } from './rejections.ts';
export { SettledTimes } from './settled-times.ts';
export type { Rejection, RejectionsFilter, TracesFilter, TracesStore } from './store.ts';
