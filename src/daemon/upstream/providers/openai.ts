import type { ProviderApi } from '../adapter.ts';
import { chatProvider } from './chat-provider.ts';
import { chatAdapter } from './openai-chat/adapter.ts';
import { responsesAdapter } from './openai-responses/adapter.ts';

/** OpenAI, in both of its formats. Source: OpenAI's API reference. */
export const openAi: ProviderApi = {
  ...chatProvider({ baseUrl: 'https://api.openai.com/v1' }),
  wires: ['responses', 'chat'],
  adapter: (settings, wire) => (wire === 'chat' ? chatAdapter(settings) : responsesAdapter(settings)),
};
