import { chatProvider } from './chat-provider.ts';
import { listedCount, resoldModel } from './listed-model.ts';

/** Vercel's AI Gateway, which resells other providers' models. Source: Vercel's AI Gateway API reference. */
export const vercel = chatProvider({
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  // Its list of models does not require a key.
  keyCheckPath: '/credits',
  readModel(model) {
    if (model.type !== undefined && model.type !== 'language') return undefined;
    return resoldModel(model, {
      contextLength: listedCount(model.context_window),
      outputTokensMax: listedCount(model.max_tokens),
      prices: { input: 'input', output: 'output' },
    });
  },
});
