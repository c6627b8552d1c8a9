import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { objectOf } from '../json-value.ts';
import { messagesDecoder } from './decoder.ts';
import { failureOf } from './failure.ts';
import { messagesBody, thoughtBindingBeta } from './request.ts';

/** Where the API is, unless the settings say otherwise. */
export const anthropicBaseUrl = 'https://api.anthropic.com';

/** Anthropic's Messages API, version 2023-06-01, always streamed. */
export function anthropicAdapter(settings: ProviderSettings): Adapter {
  const url = `${settings.baseUrl}${settings.baseUrl.endsWith('/v1') ? '' : '/v1'}/messages`;
  return {
    request(call) {
      const body = messagesBody(call, settings.name);
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'anthropic-version': '2023-06-01',
      };
      if (call.key !== undefined) headers['x-api-key'] = call.key;
      if (objectOf(body.thinking)?.block_binding) headers['anthropic-beta'] = thoughtBindingBeta;
      return { url, headers, body: JSON.stringify(body) };
    },
    decoder: ({ model }) => messagesDecoder({ provider: settings.name, model }),
    failure: (status, headers, body) => failureOf(settings.name, status, headers, body),
  };
}
