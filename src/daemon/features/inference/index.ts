export { inferenceHandlers } from './handlers.ts';
export { Background, type BackgroundStore } from './lifecycles/background/index.ts';
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
export { createSealer, type Sealer } from './pipeline/sealing.ts';
export type { ServiceOptions } from './pipeline/service-member.ts';
export type { InferenceDeps, RejectedCall } from './pipeline/start-call.ts';
export { inputTokens } from './pricing/cost-bound.ts';
export type { ResponsesStore, StoredResponse } from './stored/responses-store.ts';
export {
  type JsonAnswer,
  type StreamAnswer,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureKind,
} from './upstream.ts';
