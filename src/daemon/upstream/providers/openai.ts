import type { KnownApi } from '../adapter.ts';
import { listedCount, listedModel } from './listed-model.ts';
import { chatAdapter } from './openai-chat/index.ts';
import { responsesAdapter } from './openai-responses/index.ts';

/** The list of models in OpenAI's form, which every compatible server has, too. */
export const openAiListing: KnownApi['models'] = {
  url: (baseUrl) => `${baseUrl}/models`,
  listIn: ({ data }) => data,
  read: ({ id, created }) => listedModel(id, { createdAt: listedCount(created) }),
};

export const bearerKey: KnownApi['keyHeaders'] = (key) => ({ authorization: `Bearer ${key}` });

/** OpenAI, in both of its formats. Source: its API reference. */
export const openAi: KnownApi = {
  baseUrl: 'https://api.openai.com/v1',
  wires: ['responses', 'chat'],
  adapter: (settings, wire) => (wire === 'chat' ? chatAdapter(settings) : responsesAdapter(settings)),
  keyHeaders: bearerKey,
  keyCheckUrl: (baseUrl) => `${baseUrl}/models`,
  models: openAiListing,
};
