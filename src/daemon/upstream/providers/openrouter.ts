import type { Json } from '../json.ts';
import { objectOf } from '../json.ts';
import { chatProvider } from './chat-provider.ts';
import { listedCount, resoldModel } from './listed-model.ts';

/** OpenRouter, which resells other providers' models. Source: OpenRouter's API reference. */
export const openRouter = chatProvider({
  baseUrl: 'https://openrouter.ai/api/v1',
  // Its list of models does not require a key.
  keyCheckPath: '/key',
  readModel(model) {
    const { input_modalities: input, output_modalities: output } = objectOf(model.architecture) ?? {};
    if (Array.isArray(output) && !output.includes('text')) return undefined;
    return resoldModel(model, {
      contextLength: listedCount(model.context_length),
      outputTokensMax: listedCount(objectOf(model.top_provider)?.max_completion_tokens),
      inputModalities: Array.isArray(input) ? input.filter((kind) => typeof kind === 'string') : undefined,
      ...capabilitiesOf(model),
      prices: { input: 'prompt', output: 'completion' },
    });
  },
});

function capabilitiesOf({ supported_parameters: parameters }: Json) {
  if (!Array.isArray(parameters)) return {};
  return {
    tools: parameters.includes('tools'),
    structuredOutput: parameters.includes('structured_outputs'),
    reasoning: parameters.includes('reasoning'),
    logprobs: parameters.includes('logprobs'),
  };
}
