import { listOf } from '../../../../shared/json/json-object.ts';
import type { UpstreamCall } from '../../../features/upstreams/upstream.ts';
import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { droppedMembers, type Sent } from '../../dropped-members.ts';
import { countOf, type Json, objectOf } from '../../json.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { adjustedBody } from '../adjusted-body.ts';
import { withShortIds } from '../call-ids.ts';
import { loginHeaders } from '../login-headers.ts';
import { bearerHeaders } from '../openai-chat/adapter.ts';
import { openAiFailure } from '../openai-chat/failure.ts';
import { fittedToModel } from '../openai-options.ts';
import { readResponsesAnswer } from './answer.ts';
import { ResponsesDialect, responseAsBatch } from './decoder.ts';
import { logprobs, neutralResponsesBody, relayedPrompt, relayedResponsesBody } from './request.ts';

/**
 * The Responses format. Nothing is stored at the provider: the gateway keeps the history and sends it with each call.
 * Source: OpenAI's API reference and the Open Responses specification.
 */
export function responsesAdapter(settings: ProviderSettings): Adapter {
  const { name } = settings;
  const url = `${settings.baseUrl}/responses`;
  return {
    request(call) {
      const { subscription } = call;
      const target = subscription
        ? {
            url: `${settings.loginUrl}/responses`,
            headers: { ...bearerHeaders(undefined), ...loginHeaders(subscription) },
          }
        : { url, headers: bearerHeaders(call.key) };
      const keepsLogprobs = call.inference.sampling.needsLogprobs;
      if (isSameWire(call)) {
        const { body, dropped } = fittedToModel(writtenBody(relayedResponsesBody(call, name), call), {
          keepsLogprobs,
        });
        return { ...target, body: JSON.stringify(body), dropped };
      }
      const { body } = fittedToModel(writtenBody(neutralResponsesBody(call, name), call), {
        keepsLogprobs,
      });
      return {
        ...target,
        body: JSON.stringify(body),
        dropped: droppedMembers(call.inference, sentIn(body), ({ wire }) => wire === 'responses'),
      };
    },
    decoder: (call) =>
      new SseJsonDecoder(name, new ResponsesDialect(name, call.model), { hasFrames: isSameWire(call) }),
    wholeAnswer: (call) => isSameWire(call) && !call.inference.stream,
    readAnswer: (json) => readResponsesAnswer(json, name),
    documentAsBatch: (json, call) => responseAsBatch(json, name, new ResponsesDialect(name, call.model)),
    // What takes logins counts nothing.
    countRequest: (call) =>
      isSameWire(call) && call.subscription === undefined
        ? {
            url: `${url}/input_tokens`,
            headers: bearerHeaders(call.key),
            body: JSON.stringify(fittedToModel(relayedPrompt(call, name)).body),
          }
        : undefined,
    readCount: ({ input_tokens: count }) => countOf(count),
    failure: (status, headers, body) => openAiFailure(name, status, headers, body),
  };
}

function writtenBody(body: Json, { adjustments }: UpstreamCall): Json {
  const input = Array.isArray(body.input) ? withShortIds(body.input) : body.input;
  return adjustedBody(input === body.input ? body : { ...body, input }, adjustments);
}

/** The options that a request contains. */
function sentIn(body: Json): Sent {
  const reasoning = objectOf(body.reasoning);
  return {
    temperature: body.temperature,
    topP: body.top_p,
    logprobs: body.top_logprobs ?? (listOf(body.include).includes(logprobs) || undefined),
    verbosity: objectOf(body.text)?.verbosity,
    effort: reasoning?.effort ?? reasoning?.summary,
  };
}

function isSameWire({ inference }: Pick<UpstreamCall, 'inference'>): boolean {
  return inference.wire === 'responses';
}
