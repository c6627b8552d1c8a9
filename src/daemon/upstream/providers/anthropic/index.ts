import type { Adapter, ProviderApi, ProviderSettings } from '../../adapter.ts';
import { type Json, objectOf } from '../../json.ts';
import { leftOut, type Sent } from '../../left-out.ts';
import { listedModel, listedText, listedTime } from '../listed-model.ts';
import { messagesDecoder } from './decoder.ts';
import { anthropicFailure } from './failure.ts';
import { messagesBody, thinkingBindingBeta } from './request.ts';

const apiVersion = { 'anthropic-version': '2023-06-01' };

const keyHeaders: ProviderApi['keyHeaders'] = (key) => ({ 'x-api-key': key, ...apiVersion });

/** Anthropic's own SDK is configured with the URL without the version, most other clients with it. */
function versioned(baseUrl: string): string {
  return baseUrl.endsWith('/v1') ? baseUrl : `${baseUrl}/v1`;
}

/** Anthropic. Source: Anthropic's API reference. */
export const anthropic: ProviderApi = {
  baseUrl: 'https://api.anthropic.com',
  wires: undefined,
  adapter: (settings) => anthropicAdapter(settings),
  keyHeaders,
  keyCheckUrl: (baseUrl) => `${versioned(baseUrl)}/models?limit=1`,
  models: {
    url: (baseUrl, page) =>
      `${versioned(baseUrl)}/models?limit=1000${page === undefined ? '' : `&after_id=${encodeURIComponent(page)}`}`,
    listIn: ({ data }) => data,
    nextPage: ({ has_more: hasMore, last_id: last }) => (hasMore === true ? listedText(last) : undefined),
    read: ({ id, display_name: title, created_at: createdAt }) =>
      listedModel(id, { title: listedText(title), createdAt: listedTime(createdAt) }),
  },
};

/** The Messages API, always streamed. */
export function anthropicAdapter(settings: ProviderSettings): Adapter {
  const url = `${versioned(settings.baseUrl)}/messages`;
  return {
    request(call) {
      const body = messagesBody(call, settings.name);
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(call.key === undefined ? apiVersion : keyHeaders(call.key)),
      };
      if (objectOf(body.thinking)?.block_binding) headers['anthropic-beta'] = thinkingBindingBeta;
      return { url, headers, body: JSON.stringify(body), dropped: leftOut(call.inference, sentIn(body)) };
    },
    decoder: ({ model }) => messagesDecoder({ provider: settings.name, model }),
    failure: (status, headers, body) => anthropicFailure(settings.name, status, headers, body),
  };
}

/** The options that a request contains. */
function sentIn(body: Json): Sent {
  return {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stop: body.stop_sequences,
    effort: body.thinking ?? objectOf(body.output_config)?.effort,
  };
}
