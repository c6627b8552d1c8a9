import { ownValue } from '../../../shared/json/json-object.ts';
import type { ModelKind } from '../../features/catalog/index.ts';
import { chatProvider } from './chat-provider.ts';
import { listedCount, resoldModel } from './listed-model.ts';

/** Types of models that can be called here. */
const kinds: Readonly<Record<string, ModelKind>> = { language: 'chat', embedding: 'embedding' };

/** Vercel's AI Gateway, which resells other providers' models. Source: Vercel's AI Gateway API reference. */
export const vercel = chatProvider({
  baseUrl: 'https://ai-gateway.vercel.sh/v1',
  // Its list of models does not require a key.
  keyCheckPath: '/credits',
  readModel(model) {
    const kind = ownValue(kinds, String(model.type ?? 'language'));
    if (kind === undefined) return undefined;
    return resoldModel(model, {
      kind,
      contextLength: listedCount(model.context_window),
      outputTokensMax: listedCount(model.max_tokens),
      prices: { input: 'input', output: 'output' },
    });
  },
});
