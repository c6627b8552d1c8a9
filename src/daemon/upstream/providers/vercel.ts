import type { KnownApi } from '../adapter.ts';
import { listedCount, resoldModel } from './listed-model.ts';
import { bearerKey, openAiListing } from './openai.ts';
import { chatAdapter } from './openai-chat/index.ts';

/** Vercel's AI Gateway, which resells the models of others. Source: its API reference. */
export const vercel: KnownApi = {
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  wires: ['chat'],
  adapter: (settings) => chatAdapter(settings),
  keyHeaders: bearerKey,
  // Its list of models is open to all.
  keyCheckUrl: (baseUrl) => `${baseUrl}/credits`,
  models: {
    ...openAiListing,
    read(model) {
      if (model.type !== undefined && model.type !== 'language') return undefined;
      return resoldModel(model, {
        contextLength: listedCount(model.context_window),
        outputTokensMax: listedCount(model.max_tokens),
        prices: { input: 'input', output: 'output' },
      });
    },
  },
};
