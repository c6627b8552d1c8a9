export { type CutShort, type StreamFormat, type WholeFormat, wholeCall } from './answer-call.ts';
export type { CallCapture, CapturedRequest, Captures } from './call-capture.ts';
export type { CallDeps } from './call-deps.ts';
export { callEvents } from './call-events.ts';
export type { CallObserver, ModelCall, RejectedCall } from './call-observer.ts';
export { RunningCalls } from './cancellation.ts';
export { capableRoutes } from './capable-routes.ts';
export {
  capsOf,
  checkAction,
  defaultsOf,
  enforceKeyPolicy,
  policyOf,
} from './key-policy.ts';
export { HeldCall } from './meter.ts';
export { createOutput, type Output, type OutputItem, type OutputPart, pictureOf } from './output-items.ts';
export { inputTokens, noTokens, wholeOutput } from './pricing/cost-bound.ts';
export { readLabels, readUser } from './read-labels.ts';
export {
  type Answering,
  errorType,
  type Settled,
  type StartedFailure,
  type StreamRenderer,
} from './renderer.ts';
export { createSealer, looksLikeSummary, looksSealed } from './sealing.ts';
export { parseServiceOptions, type ServiceOptions } from './service-member.ts';
export { SilentStarts } from './silent-starts.ts';
export { passedBody, type RewriteAnswer } from './start-call.ts';
export { AnsweredCall, headerText } from './started-call.ts';
export { streamCall } from './streamed-call.ts';
export { usability } from './usable-by.ts';
