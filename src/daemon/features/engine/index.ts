export { EngineModels, type EngineRole, libraryMissing, type OpenModel } from './engine-models.ts';
export { engineHandlers } from './handlers.ts';
export type { ModelRunner, RunningModel } from './model-runner.ts';
