import type { KnownApi } from '../adapter.ts';
import { objectOf } from '../json.ts';
import { listedCount, resoldModel } from './listed-model.ts';
import { bearerKey, openAiListing } from './openai.ts';
import { chatAdapter } from './openai-chat/index.ts';

/** OpenRouter, which resells the models of others. Source: its API reference. */
export const openRouter: KnownApi = {
  baseUrl: 'https://openrouter.ai/api/v1',
  wires: ['chat'],
  adapter: (settings) => chatAdapter(settings),
  keyHeaders: bearerKey,
  // Its list of models is open to all.
  keyCheckUrl: (baseUrl) => `${baseUrl}/key`,
  models: {
    ...openAiListing,
    read(model) {
      const { input_modalities: read, output_modalities: written } = objectOf(model.architecture) ?? {};
      if (Array.isArray(written) && !written.includes('text')) return undefined;
      return resoldModel(model, {
        contextLength: listedCount(model.context_length),
        outputTokensMax: listedCount(objectOf(model.top_provider)?.max_completion_tokens),
        inputModalities: Array.isArray(read) ? read.filter((kind) => typeof kind === 'string') : undefined,
        ...abilities(model.supported_parameters),
        prices: { input: 'prompt', output: 'completion' },
      });
    },
  },
};

function abilities(parameters: unknown) {
  if (!Array.isArray(parameters)) return {};
  return {
    tools: parameters.includes('tools'),
    structuredOutput: parameters.includes('structured_outputs'),
    reasoning: parameters.includes('reasoning'),
    logprobs: parameters.includes('logprobs'),
  };
}
