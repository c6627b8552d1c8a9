import { listOf } from '../../../../shared/json/json-object.ts';
import type { Batch } from '../../../features/upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { droppedMembers, type Sent } from '../../dropped-members.ts';
import { isObject, type Json, objectOf, objectsOf, textOf } from '../../json.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { billedIn } from '../billed.ts';
import { behindRouter, type Ended, endedWith } from '../finish-reasons.ts';
import { fittedToModel } from '../openai-options.ts';
import { openAiTokens } from '../openai-usage.ts';
import { ChatDialect } from './decoder.ts';
import { Envelope, repairFinish, repairText, withoutNoReason } from './envelope.ts';
import { openAiFailure, openAiStreamFailure } from './failure.ts';
import { adjustedQuirks, type Quirks, quirksOf } from './quirks.ts';
import { flattenContent } from './reasoning.ts';
import { neutralBody, relayedBody } from './request.ts';
import { repairCalls } from './tool-calls.ts';
import { chatUsageIn } from './usage.ts';

/**
 * OpenAI's chat format, as spoken by OpenAI, OpenRouter, Vercel, Mistral, DeepSeek, Groq, xAI and servers such as Ollama,
 * vLLM, llama.cpp and LM Studio. Source: OpenAI's API reference; deviations from the other providers' references.
 */
export function chatAdapter(settings: ProviderSettings): Adapter {
  const { name } = settings;
  const usual = quirksOf(settings);
  const url = `${settings.baseUrl}/chat/completions`;
  return {
    request(call) {
      const target = { url, headers: bearerHeaders(call.key) };
      const quirks = adjustedQuirks(usual, call.adjustments);
      const limits = {
        keepsLogprobs: call.inference.sampling.needsLogprobs,
        stopsMax: quirks.stopsMax,
      };
      if (isSameWire(call)) {
        const { body, dropped } = fittedToModel(relayedBody(call, quirks), limits);
        return { ...target, body: JSON.stringify(body), dropped };
      }
      const { body } = fittedToModel(neutralBody(call, name, quirks), limits);
      return {
        ...target,
        body: JSON.stringify(body),
        dropped: droppedMembers(call.inference, sentIn(body, quirks)),
      };
    },
    decoder: (call) =>
      new SseJsonDecoder(name, new ChatDialect(name, call.model, dialectFor(call)), {
        hasFrames: isSameWire(call),
      }),
    wholeAnswer: (call) => isSameWire(call) && !call.inference.stream,
    readAnswer: (json, call) => readChatAnswer(json, name, choicesOf(call)),
    documentAsBatch: (json, call) => chatAnswerAsBatch(json, name, call),
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

/** Callers of the chat format get the text as their provider writes it. */
function dialectFor(call: UpstreamCall) {
  if (isSameWire(call)) return { choices: choicesOf(call) };
  const { tools, toolChoice, sampling } = call.inference;
  const functions = toolChoice?.mode === 'none' ? [] : tools.filter((tool) => tool.type === 'function');
  return { stop: sampling.stop, tools: new Map(functions.map(({ name, parameters }) => [name, parameters])) };
}

function isSameWire(call: UpstreamCall): boolean {
  return call.inference.wire === 'chat';
}

/** Reads a whole chat completion, and corrects in place what clients of the format could not handle. */
function readChatAnswer(
  json: Record<string, unknown>,
  name: string,
  choicesExpected: number,
): ReturnType<NonNullable<Adapter['readAnswer']>> {
  let choices = objectsOf(json.choices);
  if (choices.length > 1 && choicesExpected === 1) {
    choices = [joinedChoices(choices)];
    json.choices = choices;
  }
  if (choices.length === 0) throw new UpstreamFailure('broken', `${name} answered without a choice`);
  const envelope = new Envelope('chat.completion');
  envelope.repair(json);
  const ends = choices.map((choice, position) => readChoice(choice, { name, envelope, position }));
  const { reason: finish, ...word } = ends[0] ?? { reason: 'stop' };
  const usage = chatUsageIn(json) ?? {};
  return { tokens: openAiTokens(usage), ...billedIn(usage, json.service_tier), finish, ...word };
}

/** Some servers write the text and the calls of one message as two choices. */
function joinedChoices([first = {}, ...others]: Json[]): Json {
  const parts = [first, ...others].map(({ message }) => objectOf(message) ?? {});
  const calls = parts.flatMap(({ tool_calls }) => listOf(tool_calls));
  const content = parts.find((part) => typeof part.content === 'string' && part.content !== '')?.content;
  const message = { ...parts[0], content: content ?? parts[0]?.content ?? null };
  return { ...first, message: calls.length > 0 ? { ...message, tool_calls: calls } : message };
}

function readChoice(
  choice: Json,
  { name, envelope, position }: { name: string; envelope: Envelope; position: number },
): Ended {
  if (isObject(choice.error)) throw openAiStreamFailure(name, choice.error);
  withoutNoReason(choice);
  const { finish_reason: reason } = choice;
  // Some servers leave out the message where there is none, or write what is a message elsewhere.
  if (reason && choice.message === undefined)
    choice.message = objectOf(choice.delta) ?? { content: textOf(choice.text) ?? null };
  const { message } = choice;
  if (!isObject(message)) throw new UpstreamFailure('broken', `${name} answered without a message`);
  if (typeof choice.index !== 'number') choice.index = position;
  envelope.repairRole(choice.index, message);
  flattenContent(message);
  repairText(message);
  message.content ??= null;
  if (isObject(message.tool_calls)) message.tool_calls = [message.tool_calls];
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const hasCalls = calls.length > 0 || (isObject(message.function_call) && 'deprecated');
  const said = typeof reason === 'string' ? reason : undefined;
  const isUsable = hasCalls !== false || hasContent(message);
  const word = isUsable ? said : behindRouter(said, choice.native_finish_reason);
  const end = endedWith(word, { provider: name, isUsable });
  repairCalls(message, { provider: name, isCut: end.reason !== 'stop' });
  repairFinish(choice, { finish: end.reason, hasCalls });
  return end;
}

function hasContent({ content, refusal, images, audio }: Json): boolean {
  const isText = (value: unknown) => typeof value === 'string' && value.trim() !== '';
  return (
    isText(content) || isText(refusal) || isObject(audio) || (Array.isArray(images) && images.length > 0)
  );
}

/** Converts a chat completion to the batch that a stream with a single chunk would give. Uses the first choice only. */
function chatAnswerAsBatch(json: Record<string, unknown>, name: string, call: UpstreamCall): Batch {
  const { providerReason } = readChatAnswer(json, name, 1);
  const batch: Batch = { events: [], frames: undefined };
  const { tools, stop } = dialectFor(call);
  const dialect = new ChatDialect(name, call.model, { tools, stop });
  dialect.take(json, '', batch);
  dialect.finish(batch, 'done-mark');
  const end = batch.events.at(-1);
  if (end?.type === 'finished' && providerReason !== undefined) end.providerReason = providerReason;
  return batch;
}
