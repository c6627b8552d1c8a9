import type { ModelListing, ProviderApi } from '../adapter.ts';
import { listedCount, listedModel } from './listed-model.ts';
import { chatAdapter } from './openai-chat/adapter.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';

/** OpenAI's list of models, which compatible servers have too. */
const openAiListing: ModelListing = {
  url: (baseUrl) => `${baseUrl}/models`,
  listIn: ({ data }) => data,
  read: ({ id, created }) => listedModel(id, { createdAt: listedCount(created) }),
};

export interface ChatProviderOptions {
  /** Without a trailing slash. */
  baseUrl: string;
  /** A free endpoint that only accepts valid keys, by default the list of models. */
  keyCheckPath?: string;
  /** Reads one model of the list; by default its name only. */
  readModel?: ModelListing['read'];
}

/** A provider with OpenAI's chat format, its embeddings, its list of models and bearer keys. */
export function chatProvider({
  baseUrl,
  keyCheckPath = '/models',
  readModel = openAiListing.read,
}: ChatProviderOptions): ProviderApi {
  return {
    baseUrl,
    wires: ['chat'],
    adapter: (settings) => chatAdapter(settings),
    embeddings: (settings) => openAiEmbeddings(settings),
    keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
    keyCheckUrl: (configuredUrl) => `${configuredUrl}${keyCheckPath}`,
    models: { ...openAiListing, read: readModel },
  };
}
