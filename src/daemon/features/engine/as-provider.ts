import { localModelsProvider } from '../../../shared/constants/engine-library.ts';
import type { ProviderDescription } from '../catalog/index.ts';
import { type EngineModels, libraryMissing } from './engine-models.ts';
import type { RunningModel } from './model-runner.ts';

/** The models as a provider. They read and write text; tools and JSON are enforced by grammars. */
export function asProvider<Model extends RunningModel>(
  models: EngineModels<Model>,
  { contextTokens }: { readonly contextTokens: number },
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
