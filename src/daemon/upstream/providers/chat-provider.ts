import type { ModelListing, ProviderApi } from '../adapter.ts';
import { compatibleListing } from './compatible-model.ts';
import { chatAdapter } from './openai-chat/adapter.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';

export interface ChatProviderOptions {
  /** Without a trailing slash. */
  baseUrl: string;
  /** A free endpoint that only accepts valid keys, by default the list of models. */
  keyCheckPath?: string;
  /** Reads one model of the list; by default what compatible servers tell of it. */
  readModel?: ModelListing['read'];
}

/** A provider with OpenAI's chat format, its embeddings, its list of models and bearer keys. */
export function chatProvider({
  baseUrl,
  keyCheckPath = '/models',
  readModel = compatibleListing.read,
}: ChatProviderOptions): ProviderApi {
  return {
    baseUrl,
    wires: ['chat'],
    adapter: (settings) => chatAdapter(settings),
    embeddings: (settings) => openAiEmbeddings(settings),
    keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
    keyCheckUrl: (configuredUrl) => `${configuredUrl}${keyCheckPath}`,
    models: { ...compatibleListing, read: readModel },
  };
}
