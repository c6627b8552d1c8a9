export { SettlementDurations, traceHandlers } from './handlers.ts';
export { Rejections, reasonOf, rejectionEvent } from './rejections.ts';
export type { Rejection } from './store.ts';
