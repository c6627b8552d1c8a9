import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import type { Adapter, ProviderApi, ProviderSettings } from '../../adapter.ts';
import { droppedMembers, type Sent } from '../../dropped-members.ts';
import { countOf, type Json, objectOf } from '../../json.ts';
import { adjustedBody } from '../adjusted-body.ts';
import { contextLengthOf } from '../compatible-model.ts';
import { listedModel, listedText, listedTime } from '../listed-model.ts';
import { loginHeaders } from '../login-headers.ts';
import { messageAsBatch, messagesDecoder, readMessage } from './decoder.ts';
import { anthropicFailure } from './failure.ts';
import { withPlainTurns } from './plain-turns.ts';
import { relayedMessagesBody, relayedPrompt } from './relay.ts';
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
  wires: ['messages'],
  adapter: (settings) => anthropicAdapter(settings),
  keyHeaders,
  keyCheckUrl: (baseUrl) => `${versioned(baseUrl)}/models?limit=1`,
  models: {
    url: (baseUrl, page) =>
      `${versioned(baseUrl)}/models?limit=1000${page === undefined ? '' : `&after_id=${encodeURIComponent(page)}`}`,
    listIn: ({ data }) => data,
    nextPage: ({ has_more: hasMore, last_id: last }) => (hasMore === true ? listedText(last) : undefined),
    read: (model) =>
      listedModel(model.id, {
        title: listedText(model.display_name),
        createdAt: listedTime(model.created_at),
        contextLength: contextLengthOf(model),
      }),
  },
};

/** The Messages API; calls of other formats are always streamed. */
export function anthropicAdapter(settings: ProviderSettings): Adapter {
  const urlOf = ({ subscription }: Pick<UpstreamCall, 'subscription'>) =>
    `${versioned((subscription && settings.loginUrl) ?? settings.baseUrl)}/messages`;
  const plain = isAnthropics(settings) ? (body: Json) => body : withPlainTurns;
  const originOf = ({ model }: UpstreamCall) => ({ provider: settings.name, model });
  return {
    request(call) {
      if (isSameWire(call)) {
        const { body, dropped } = relayedMessagesBody(call, settings.name);
        return {
          url: urlOf(call),
          headers: relayedHeaders(call),
          body: JSON.stringify(adjustedBody(plain(body), call.adjustments)),
          dropped,
        };
      }
      const body = adjustedBody(messagesBody(call, settings.name), call.adjustments);
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(call.key === undefined ? apiVersion : keyHeaders(call.key)),
      };
      if (objectOf(body.thinking)?.block_binding) headers['anthropic-beta'] = thinkingBindingBeta;
      return {
        url: urlOf(call),
        headers,
        body: JSON.stringify(body),
        dropped: droppedMembers(call.inference, sentIn(body)),
      };
    },
    decoder: (call) => messagesDecoder(originOf(call), { hasFrames: isSameWire(call) }),
    wholeAnswer: (call) => isSameWire(call) && !call.inference.stream,
    readAnswer: (json) => readMessage(json, settings.name),
    documentAsBatch: (json, call) => messageAsBatch(json, originOf(call), { hasFrames: isSameWire(call) }),
    countRequest: (call) =>
      isSameWire(call)
        ? {
            url: `${urlOf(call)}/count_tokens`,
            headers: relayedHeaders(call),
            body: JSON.stringify(plain(relayedPrompt(call, settings.name))),
          }
        : undefined,
    readCount: ({ input_tokens: count }) => countOf(count),
    failure: (status, headers, body) => anthropicFailure(settings.name, status, headers, body),
  };
}

/** Whether it is Anthropic's own API, or a proxy in front of it. */
function isAnthropics({ name, baseUrl }: ProviderSettings): boolean {
  return name === 'anthropic' || (URL.parse(baseUrl)?.hostname.endsWith('.anthropic.com') ?? false);
}

function isSameWire({ inference }: Pick<UpstreamCall, 'inference'>): boolean {
  return inference.wire === 'messages';
}

/** The caller's version and betas, with our key or the caller's login. */
function relayedHeaders({
  inference,
  key,
  subscription,
}: Pick<UpstreamCall, 'inference' | 'key' | 'subscription'>): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(key === undefined ? apiVersion : keyHeaders(key)),
    ...(subscription && loginHeaders(subscription)),
    ...inference.headers,
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
