import type { ProviderApi } from '../adapter.ts';
import { chatProvider } from './chat-provider.ts';
import { chatAdapter } from './openai-chat/adapter.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';
import { isResponsesOnly } from './openai-models.ts';
import { responsesAdapter } from './openai-responses/adapter.ts';

/**
 * A request has at most 300,000 tokens, none of which is shorter than a byte. With more inputs than this the answer could
 * exceed `answerBytesMax`.
 */
const openAiBounds = { inputsMax: 1024, bytesMax: 300_000, hasBase64: true };

/** OpenAI, in both of its formats. Source: OpenAI's API reference. */
export const openAi: ProviderApi = {
  ...chatProvider({ baseUrl: 'https://api.openai.com/v1' }),
  loginUrl: 'https://chatgpt.com/backend-api/codex',
  wires: ['responses', 'chat'],
  wiresOf: (model) => (isResponsesOnly(model) ? ['responses'] : ['responses', 'chat']),
  embeddings: (settings) => openAiEmbeddings(settings, openAiBounds),
  adapter: (settings, wire) => (wire === 'chat' ? chatAdapter(settings) : responsesAdapter(settings)),
};
