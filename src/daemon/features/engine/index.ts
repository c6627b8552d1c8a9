export { type DecidingModel, engineNamed, engineWithRole } from './as-engine.ts';
export { asProvider } from './as-provider.ts';
export { EngineModels, type EngineRole } from './engine-models.ts';
export { engineHandlers } from './handlers.ts';
export type { ModelRunner, RunningModel } from './model-runner.ts';
