import type { Batch, Inference } from '../../features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../features/upstreams/upstream.ts';
import type { Adapter, ProviderApi, ProviderSettings } from '../adapter.ts';
import { isObject } from '../json.ts';
import { chatProvider } from './chat-provider.ts';
import { chatAdapter } from './openai-chat/adapter.ts';
import { openAiEmbeddings } from './openai-embeddings.ts';
import { isResponsesOnly, refusesFunctionsInChat } from './openai-models.ts';
import { responsesAdapter } from './openai-responses/adapter.ts';

/**
 * A request has at most 300,000 tokens, none of which is shorter than a byte. With more inputs than this the answer could
 * exceed `answerBytesMax`.
 */
const openAiBounds = { inputsMax: 1024, bytesMax: 300_000, hasBase64: true };

/** A server with a format of OpenAI's, of which no more is known. */
export const openAiCompatible: ProviderApi = {
  ...chatProvider({ baseUrl: 'https://api.openai.com/v1' }),
  adapter: (settings, wire) => (wire === 'chat' ? chatAdapter(settings) : responsesAdapter(settings)),
};

/** OpenAI, in both of its formats. Source: OpenAI's API reference. */
export const openAi: ProviderApi = {
  ...openAiCompatible,
  loginUrl: 'https://chatgpt.com/backend-api/codex',
  wires: ['responses', 'chat'],
  wiresOf: (model) => (isResponsesOnly(model) ? ['responses'] : ['responses', 'chat']),
  embeddings: (settings) => openAiEmbeddings(settings, openAiBounds),
  adapter: (settings, wire) => (wire === 'chat' ? chatOrResponses(settings) : responsesAdapter(settings)),
};

/** Models refuse functions in the chat format while they reason, so these calls are made in the Responses format. */
function chatOrResponses(settings: ProviderSettings): Adapter {
  const chat = chatAdapter(settings);
  const responses = responsesAdapter(settings);
  const adapterOf = (call: UpstreamCall) => (needsResponses(call) ? responses : chat);
  return {
    ...chat,
    request: (call) => adapterOf(call).request(call),
    decoder: (call) => adapterOf(call).decoder(call),
    wholeAnswer: (call) => adapterOf(call).wholeAnswer?.(call) ?? false,
    documentAsBatch: (json, call) => adapterOf(call).documentAsBatch?.(json, call) as Batch,
  };
}

function needsResponses({ inference, model }: UpstreamCall): boolean {
  const { tools, reasoning } = inference;
  const hasFunctions = tools.some(({ type }) => type !== 'opaque');
  return hasFunctions && refusesFunctionsInChat(model, reasoning?.effort) && !needsChat(inference);
}

/** Whether a call has what the Responses format cannot express. */
function needsChat({ items, body }: Inference): boolean {
  const { n, modalities, web_search_options: search } = body;
  const isSpoken = Array.isArray(modalities) && modalities.includes('audio');
  return (
    (typeof n === 'number' && n > 1) ||
    isSpoken ||
    isObject(search) ||
    items.some(({ type }) => type === 'opaque')
  );
}
