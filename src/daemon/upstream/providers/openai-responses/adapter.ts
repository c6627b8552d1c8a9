import type { UpstreamCall } from '../../../features/inference/upstream.ts';
import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { bearerHeaders } from '../openai-chat/adapter.ts';
import { openAiFailure } from '../openai-chat/failure.ts';
import { readResponsesAnswer } from './answer.ts';
import { neutralResponsesBody, relayedResponsesBody } from './body.ts';
import { ResponsesDialect, responseAsBatch } from './decoder.ts';

export interface ResponsesSettings extends ProviderSettings {
  /** Sent with every call, names in lower case. */
  headers?: Record<string, string>;
}

/**
 * Every provider with the Responses format. Nothing is stored there: the history is kept here and sent along.
 * Source: OpenAI's API reference and the Open Responses specification.
 */
export function responsesAdapter(settings: ResponsesSettings): Adapter {
  const { name } = settings;
  const url = `${settings.baseUrl}/responses`;
  return {
    request: (call) => ({
      url,
      headers: bearerHeaders(call.key, settings.headers),
      body: JSON.stringify(
        isSameWire(call) ? relayedResponsesBody(call, name) : neutralResponsesBody(call, name),
      ),
    }),
    decoder: (call) =>
      new SseJsonDecoder(name, new ResponsesDialect(name, call.model), { hasFrames: isSameWire(call) }),
    wholeAnswer: (call) => isSameWire(call) && !call.inference.stream,
    readAnswer: (json) => readResponsesAnswer(json, name),
    documentAsBatch: (json, { model }) => responseAsBatch(json, name, model),
    failure: (status, headers, body) => openAiFailure(name, status, headers, body),
  };
}

function isSameWire(call: UpstreamCall): boolean {
  return call.inference.wire === 'responses';
}
