import type { UpstreamCall } from '../../../features/inference/upstream.ts';
import type { Adapter, ProviderSettings } from '../../adapter.ts';
import { SseJsonDecoder } from '../../sse-decoder.ts';
import { chatAnswerAsBatch, readChatAnswer } from './answer.ts';
import { ChatDialect } from './decoder.ts';
import { openAiFailure } from './failure.ts';
import { type FlavourName, flavourOf } from './flavour.ts';
import { neutralBody } from './neutral-body.ts';
import { relayedBody } from './relayed-body.ts';

export interface ChatSettings extends ProviderSettings {
  /** Told by the host of `baseUrl` where it is left out; `generic` for hosts that nobody knows. */
  flavour?: FlavourName;
  /** Sent with every call, names in lower case. */
  headers?: Record<string, string>;
}

/**
 * Every provider with OpenAI's chat format: OpenAI, OpenRouter, Vercel, Mistral, DeepSeek, Groq, xAI and servers like
 * Ollama, vLLM, llama.cpp and LM Studio. Source: OpenAI's API reference, and each provider's own deviations.
 */
export function chatAdapter(settings: ChatSettings): Adapter {
  const { name } = settings;
  const flavour = flavourOf(settings);
  const url = `${settings.baseUrl}/chat/completions`;
  return {
    request: (call) => ({
      url,
      headers: bearerHeaders(call.key, settings.headers),
      body: JSON.stringify(isSameWire(call) ? relayedBody(call, flavour) : neutralBody(call, name, flavour)),
    }),
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

/** The headers of a JSON call with a bearer key. */
export function bearerHeaders(
  key: string | undefined,
  more: Record<string, string> | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...more };
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  return headers;
}

/** How many answers are asked for at once. */
function choicesOf(call: UpstreamCall): number {
  const { n } = isSameWire(call) ? call.inference.body : {};
  return typeof n === 'number' ? n : 1;
}

function isSameWire(call: UpstreamCall): boolean {
  return call.inference.wire === 'chat';
}
