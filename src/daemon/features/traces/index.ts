export type { ExportedContent } from './export/exported-call.ts';
export { exportHandlers } from './export/handlers.ts';
export { rejectionsVisible, SettlementDurations, traceHandlers, traceViews } from './handlers.ts';
export { matchingCalls } from './matching-calls.ts';
export { providerHealthHandlers } from './provider-health.ts';
export { isForModelCall, knownEndpoint, rejectedRequests } from './rejected-requests.ts';
export { Rejections, reasonOf, rejectionEvent } from './rejections.ts';
export type { Rejection, TracesStore } from './store.ts';
