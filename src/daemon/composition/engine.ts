import { localModelsProvider } from '../../shared/engine-library.ts';
import type { Config } from '../config/config.ts';
import type { ReloadableSettings } from '../config/reloadable-settings.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import type { EmbeddedModel } from '../features/decisions/index.ts';
import {
  EngineModels,
  type EngineRole,
  engineHandlers,
  libraryMissing,
  type OpenModel,
} from '../features/engine/index.ts';
import type { Log } from '../log.ts';
import { localUpstream } from '../upstream/engine/local-upstream.ts';
import { type LocalModel, modelProcesses } from '../upstream/engine/model-processes.ts';
import type { World } from '../world.ts';
import type { ProviderSet } from './provider-set.ts';

interface EngineDeps {
  world: World;
  settings: Pick<ReloadableSettings, 'engine'>;
  timeouts: Config['timeouts'];
  process: { dataFolder: string };
  log: Pick<Log, 'warn'>;
  /** Stores the models for the next start. */
  keepEngineModels: (text: string) => Promise<void>;
}

/** The embedded engine: models of the host as engines for decisions, and as the provider `local`. */
export function createEngine(deps: EngineDeps, { providers }: { providers: Pick<ProviderSet, 'add'> }) {
  const { world, settings, log, timeouts } = deps;
  const runner = modelProcesses({ dataFolder: deps.process.dataFolder, settings: settings.engine, log });
  const models = new EngineModels<LocalModel>({
    runner,
    world,
    save: deps.keepEngineModels,
    onChange: () =>
      providers.add([{ description: describe(models, settings.engine), upstream, key: undefined }]),
  });
  const upstream = localUpstream((name) => models.get(name)?.running, timeouts);
  return {
    handlers: engineHandlers(models),
    restore: (text: string) => models.restore(text),
    /** The model that answers decisions as this engine, or why there is none. */
    engineFor: (role: EngineRole): EmbeddedModel | { reason: string } => {
      const model = models.withRole(role);
      if (model) return embedded(models, model);
      const as = role === 'engine' ? '' : ` --as ${role}`;
      return {
        reason: `no decision engine is configured: set decisions.engine.url to a System One server, or add a model with gateway engine add FILE.gguf${as}`,
      };
    },
    /** The same for a model of the provider `local`. */
    modelOf: (name: string): EmbeddedModel | { reason: string } => {
      const model = models.get(name);
      return model ? embedded(models, model) : { reason: `${localModelsProvider}/${name} was removed` };
    },
    close: () => models.close(),
  };
}

const digestLength = 12;

function embedded(
  { isInstalled }: EngineModels,
  { name, sha256, running }: OpenModel,
): EmbeddedModel | { reason: string } {
  if (!isInstalled) return { reason: libraryMissing };
  return {
    identity: `${name}@sha256:${sha256.slice(0, digestLength)}`,
    decide: (request, signal) => running.decide(request, signal),
  };
}

/** The models as a provider. They read and write text; tools and JSON are enforced by grammars. */
function describe(
  models: EngineModels<LocalModel>,
  { contextTokens }: ReloadableSettings['engine'],
): ProviderDescription {
  const { isInstalled } = models;
  const all = models.list();
  const details = all.map(({ name, architecture, trainedTokens }) => [
    name,
    {
      description: `A model of this host (${architecture}).`,
      contextLength: Math.min(contextTokens, trainedTokens),
      capabilities,
    },
  ]);
  return {
    name: localModelsProvider,
    kind: 'local',
    available: isInstalled,
    reason: isInstalled ? null : libraryMissing,
    models: all.map(({ name }) => name),
    details: Object.fromEntries(details),
    wires: ['chat'],
  };
}

const capabilities = {
  kind: 'chat',
  inputModalities: ['text'],
  outputModalities: ['text'],
  tools: true,
  parallelTools: true,
  structuredOutput: true,
  logprobs: false,
} as const;
