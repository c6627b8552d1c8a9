export { Calibrations } from './calibrations.ts';
export { Debiaser } from './debias.ts';
export { DecisionSlots } from './decision-slots.ts';
export {
  type AskOptions,
  type DecisionSource,
  type SourceAnswer,
  SourceFailure,
  sourceFailureOf,
} from './decision-source.ts';
export { Decisions, type PeerCall, type PeerSource } from './decisions.ts';
export { topOf } from './distribution.ts';
export { type EmbeddedModel, eitherEngine, embeddedEngine } from './embedded-engine.ts';
export type { DecisionEngine, EngineAnswer, EngineName, EngineRequest, Engines } from './engine.ts';
export { engineSource } from './engine-decision-source.ts';
export { decisionHandlers } from './handlers.ts';
export { HostBudget } from './host-budget.ts';
export { decisionModelEntries } from './model-entries.ts';
export { type AskNative, type NativeAnswer, verified } from './native-answers.ts';
export { ModelMemory } from './provider-decision-source.ts';
export {
  type DecisionRequest,
  type Option,
  type Question,
  type QuestionAnswer,
  yesOrNo,
} from './question.ts';
export type { Calibration, DecisionsStore } from './store.ts';
