export { inferenceHandlers } from './handlers.ts';
export { isObject, type Json } from './invalid-request.ts';
export { Background } from './lifecycles/background/background.ts';
export type { BackgroundResponse, BackgroundStore } from './lifecycles/background/background-store.ts';
export type { InferenceDeps, InferenceSettings } from './lifecycles/inference-deps.ts';
export type {
  Batch,
  CallFormat,
  ContentPart,
  EmbeddingInput,
  FinishReason,
  Inference,
  InferenceEvent,
  InputItem,
  RawFrame,
  Tool,
  Wire,
} from './neutral.ts';
export { callEvents } from './pipeline/call-events.ts';
export type { CallObserver, RejectedCall } from './pipeline/call-observer.ts';
export { capsOf, checkAction, policyOf } from './pipeline/key-policy.ts';
export { headerText } from './pipeline/relay.ts';
export { createSealer, type Sealer } from './pipeline/sealing.ts';
export type { ServiceOptions } from './pipeline/service-member.ts';
export { inputTokens, noTokens } from './pricing/cost-bound.ts';
export type { ResponsesStore, StoredResponse } from './stored/responses-store.ts';
export { translatingUpstreams } from './translation/translating-upstreams.ts';
export {
  type EmbeddingAnswer,
  type JsonAnswer,
  type StreamAnswer,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  UpstreamFailure,
  type UpstreamFailureKind,
  type Vector,
} from './upstream.ts';
