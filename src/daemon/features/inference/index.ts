export { inferenceHandlers } from './handlers.ts';
export { Background } from './lifecycles/background/background.ts';
export { sealedBackground } from './lifecycles/background/sealed-background.ts';
export type { InferenceDeps } from './lifecycles/inference-deps.ts';
export { keepExpiredRemoved } from './stored/remove-expired.ts';
export type { ResponsesStore } from './stored/responses-store.ts';
export { sealedResponses } from './stored/sealed-responses.ts';
export { type LearnedRefusal, latestOf } from './translation/refused-options.ts';
export { translatingUpstreams } from './translation/translating-upstreams.ts';
