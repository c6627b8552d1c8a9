import type { Tokens } from '../../../../shared/money.ts';
import type { Batch, FinishReason } from '../../../features/upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { droppedMembers, type Sent } from '../../dropped-members.ts';
import { isObject, type Json, objectOf } from '../../json.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { fittedToModel } from '../openai-options.ts';
import { ChatDialect, Envelope, repairFinish, repairUsage } from './decoder.ts';
import { openAiFailure } from './failure.ts';
import { type Quirks, quirksOf } from './quirks.ts';
import { flattenContent } from './reasoning.ts';
import { neutralBody, relayedBody } from './request.ts';
import { repairCalls } from './tool-calls.ts';
import { chatTokensIn, finishReasonOf } from './usage.ts';

/**
 * OpenAI's chat format, as spoken by OpenAI, OpenRouter, Vercel, Mistral, DeepSeek, Groq, xAI and servers such as Ollama,
 * vLLM, llama.cpp and LM Studio. Source: OpenAI's API reference; deviations from the other providers' references.
 */
export function chatAdapter(settings: ProviderSettings): Adapter {
  const { name } = settings;
  const quirks = quirksOf(settings);
  const url = `${settings.baseUrl}/chat/completions`;
  return {
    request(call) {
      const target = { url, headers: bearerHeaders(call.key) };
      const keepsLogprobs = call.inference.sampling.needsLogprobs;
      if (isSameWire(call)) {
        const { body, dropped } = fittedToModel(relayedBody(call, quirks), { keepsLogprobs });
        return { ...target, body: JSON.stringify(body), dropped };
      }
      const { body } = fittedToModel(neutralBody(call, name, quirks), { keepsLogprobs });
      return {
        ...target,
        body: JSON.stringify(body),
        dropped: droppedMembers(call.inference, sentIn(body, quirks)),
      };
    },
    decoder: (call) =>
      new SseJsonDecoder(name, new ChatDialect(name, call.model, { choices: choicesOf(call) }), {
        hasFrames: isSameWire(call),
      }),
    wholeAnswer: (call) => isSameWire(call) && !call.inference.stream,
    readAnswer: (json) => readChatAnswer(json, name),
    documentAsBatch: (json, { model }) => chatAnswerAsBatch(json, name, model),
    failure: (status, headers, body) => openAiFailure(name, status, headers, body),
  };
}

/** The options that a request contains. */
function sentIn(body: Json, quirks: Quirks): Sent {
  return {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    stop: body.stop,
    seed: body[quirks.seedField],
    logprobs: body.logprobs,
    verbosity: body.verbosity,
    effort: quirks.effort === 'reasoning' ? objectOf(body.reasoning)?.effort : body.reasoning_effort,
  };
}

/** The headers of a JSON call with a bearer key. */
export function bearerHeaders(key: string | undefined): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
}

/** How many choices the caller asks for. */
function choicesOf(call: UpstreamCall): number {
  const { n } = isSameWire(call) ? call.inference.body : {};
  return typeof n === 'number' ? n : 1;
}

function isSameWire(call: UpstreamCall): boolean {
  return call.inference.wire === 'chat';
}

/** Reads a whole chat completion, and corrects in place what clients of the format could not handle. */
function readChatAnswer(
  json: Record<string, unknown>,
  name: string,
): { tokens: Tokens | undefined; finish: FinishReason } {
  const choices = Array.isArray(json.choices) ? json.choices.filter(isObject) : [];
  const [first] = choices;
  if (first === undefined) throw new UpstreamFailure('broken', `${name} answered without a choice`);
  const reason = typeof first.finish_reason === 'string' ? first.finish_reason : 'stop';
  const finish = finishReasonOf(reason);
  if (finish === undefined)
    throw new UpstreamFailure('server', `${name} ended its answer with the reason "error"`);
  const envelope = new Envelope('chat.completion');
  envelope.repair(json);
  repairUsage(json);
  for (const [position, choice] of choices.entries()) {
    const { message } = choice;
    if (!isObject(message)) throw new UpstreamFailure('broken', `${name} answered without a message`);
    if (typeof choice.index !== 'number') choice.index = position;
    envelope.repairRole(choice.index, message);
    flattenContent(message);
    repairCalls(message);
    const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
    repairFinish(choice, { hasCalls });
  }
  return { tokens: chatTokensIn(json), finish };
}

/** Converts a chat completion to the batch that a stream with a single chunk would give. Uses the first choice only. */
function chatAnswerAsBatch(json: Record<string, unknown>, name: string, model: string): Batch {
  readChatAnswer(json, name);
  const batch: Batch = { events: [], frames: undefined };
  const dialect = new ChatDialect(name, model);
  dialect.take(json, '', batch);
  dialect.finish(batch, 'done-mark');
  return batch;
}
