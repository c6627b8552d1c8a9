import { localModelsProvider } from '../../../shared/constants/engine-library.ts';
import type { EmbeddedModel } from '../decisions/index.ts';
import { type EngineModels, type EngineRole, libraryMissing, type OpenModel } from './engine-models.ts';
import type { RunningModel } from './model-runner.ts';

type Models = Pick<EngineModels<RunningModel>, 'isInstalled' | 'get' | 'withRole'>;

/** A model that answers decisions, or why there is none. */
export type DecidingModel = EmbeddedModel | { reason: string };

/** The model that answers decisions as this engine. */
export function engineWithRole(models: Models, role: EngineRole): DecidingModel {
  const model = models.withRole(role);
  if (model) return deciding(models, model);
  const as = role === 'engine' ? '' : ` --as ${role}`;
  return {
    reason: `no decision engine is configured: set decisions.engine.url to a System One server, or add a model with gateway engine add FILE.gguf${as}`,
  };
}

/** A model of the provider `local`. */
export function engineNamed(models: Models, name: string): DecidingModel {
  const model = models.get(name);
  return model ? deciding(models, model) : { reason: `${localModelsProvider}/${name} was removed` };
}

const digestLength = 12;

function deciding(
  { isInstalled }: Pick<Models, 'isInstalled'>,
  { name, sha256, running }: OpenModel,
): DecidingModel {
  if (!isInstalled) return { reason: libraryMissing };
  return {
    identity: `${name}@sha256:${sha256.slice(0, digestLength)}`,
    decide: (request, signal) => running.decide(request, signal),
  };
}
