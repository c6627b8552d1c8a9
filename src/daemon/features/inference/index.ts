export { Background, type BackgroundStore } from './background/index.ts';
export type { InferenceNeeds, RefusedCall } from './begin.ts';
export { inputTokens } from './bounds.ts';
export { inferenceHandlers } from './handlers.ts';
export type {
  Batch,
  ContentPart,
  FinishReason,
  Inference,
  InferenceEvent,
  InputItem,
  RawFrame,
  Tool,
  Wire,
} from './neutral.ts';
export type { ResponsesStore, StoredResponse } from './responses-store.ts';
export type { OpenedRoute, Route, RouteAttempt, Router } from './router.ts';
export { createSealer, type Sealer } from './sealing.ts';
export type { Wishes } from './service-member.ts';
export {
  type JsonAnswer,
  type StreamAnswer,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureKind,
} from './upstream.ts';
