import type { Feature } from '../base/feature.ts';
import {
  asProvider,
  type DecidingModel,
  EngineModels,
  type EngineRole,
  engineHandlers,
  engineNamed,
  engineWithRole,
} from '../features/engine/index.ts';
import type { ProviderSet } from '../features/providers/index.ts';
import { localUpstream } from '../upstream/engine/local-upstream.ts';
import { type LocalModel, modelProcesses } from '../upstream/engine/model-processes.ts';
import type { AppDeps } from './app-deps.ts';

export interface EngineFeature extends Feature {
  /** Restores the models of the last stop. */
  restore(text: string): void;
  engineFor(role: EngineRole): DecidingModel;
  modelOf(name: string): DecidingModel;
}

/** The embedded engine: models of the host as engines for decisions, and as the provider `local`. */
export function createEngineFeature(deps: AppDeps, providers: Pick<ProviderSet, 'add'>): EngineFeature {
  const { world, log, timeouts } = deps;
  const settings = deps.settings.engine;
  const models = new EngineModels<LocalModel>({
    runner: modelProcesses({ dataFolder: deps.process.dataFolder, settings, log }),
    world,
    save: deps.keepEngineModels,
    onChange: () => providers.add([{ description: asProvider(models, settings), upstream, key: undefined }]),
  });
  const upstream = localUpstream((name) => models.get(name)?.running, timeouts);
  return {
    handlers: engineHandlers(models),
    restore: (text) => models.restore(text),
    engineFor: (role) => engineWithRole(models, role),
    modelOf: (name) => engineNamed(models, name),
    close: () => models.close(),
  };
}
