import type { KnownApi } from '../../known-api.ts';
import { objectOf } from '../json-value.ts';
import { listedCount, listedModel, listedPrices, listedText } from '../listed-values.ts';
import { bearerKey, openAiListing } from '../openai/index.ts';
import { chatAdapter } from '../openai-chat/index.ts';

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
      const pricing = objectOf(model.pricing) ?? {};
      return listedModel(model.id, {
        title: listedText(model.name),
        description: listedText(model.description),
        createdAt: listedCount(model.created),
        contextLength: listedCount(model.context_length),
        outputTokensMax: listedCount(objectOf(model.top_provider)?.max_completion_tokens),
        inputModalities: Array.isArray(read) ? read.filter((kind) => typeof kind === 'string') : undefined,
        ...abilities(model.supported_parameters),
        usdPerToken: listedPrices({
          input: pricing.prompt,
          output: pricing.completion,
          cachedInput: pricing.input_cache_read,
          cacheWrite: pricing.input_cache_write,
        }),
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
