import type { ServiceAnswer } from '../../../../../shared/contract/service-member.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { chatPicture } from '../../../../../shared/formats/pictures.ts';
import type { Tokens } from '../../../../../shared/money/money.ts';
import { type Output, pictureOf, type Settled } from '../../../calls/index.ts';
import type { ContentPart, FinishReason, InputItem, ToolName } from '../../../upstreams/neutral.ts';
import { sealedFormat } from './parse.ts';

/** Token counts in the chat format, with the cost of the call. */
export function showChatUsage(tokens: Tokens, service: ServiceAnswer | undefined): Json {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cachedInput, cache_write_tokens: tokens.cacheWrite },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    ...(service && { cost_usd: service.cost?.total_usd ?? null }),
  };
}

const detailNames = ['prompt_tokens_details', 'completion_tokens_details'] as const;

/**
 * The provider's usage of an answer that is passed on, with the cost of the call and the counts that it was charged for:
 * providers differ in what they count, and where.
 */
export function passedUsage(reported: Json | undefined, { tokens, service }: Settled): Json {
  // A provider that is itself a gateway reports its own cost, which ours replaces.
  const counted = showChatUsage(tokens, service);
  const usage: Json = { ...reported, ...counted };
  for (const name of detailNames) {
    const details = reported?.[name];
    if (isObject(details)) usage[name] = { ...details, ...nonZero(counted[name], details) };
  }
  return usage;
}

/** The counts of ours that are not 0, or that the provider has, too. */
function nonZero(counts: unknown, details: Json): Json {
  return Object.fromEntries(
    Object.entries(counts as Json).filter(([name, count]) => count !== 0 || name in details),
  );
}

/** `stop` with function calls becomes `tool_calls`; a cut answer is `length` even with function calls. */
export function finishReason(output: Output, finish: FinishReason): string {
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  return output.items.some((item) => item.kind === 'function_call') ? 'tool_calls' : 'stop';
}

/** A whole chat completion, rendered from the neutral answer. */
export function renderCompletion(options: {
  id: string;
  created: number;
  model: string;
  output: Output;
  settled: Settled;
}): Json {
  const { id, created, model, output, settled } = options;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: messageOf(output),
        logprobs: logprobsOf(output),
        finish_reason: finishReason(output, settled.finish),
      },
    ],
    usage: showChatUsage(settled.tokens, settled.service),
    service: settled.service,
  };
}

function messageOf(output: Output): Json {
  let content: string | null = null;
  let refusal: string | null = null;
  const thoughts: string[] = [];
  const calls: Json[] = [];
  const details: Json[] = [];
  const annotations: Json[] = [];
  const images = output.items
    .map(pictureOf)
    .filter((picture) => picture !== undefined)
    .map(chatPicture);
  output.items.forEach((item, index) => {
    if (item.kind === 'message') {
      for (const part of item.parts) {
        if (part.type === 'refusal') refusal = (refusal ?? '') + part.refusal;
        else {
          const before = content ?? '';
          content = before + part.text;
          for (const each of part.annotations) {
            const annotation = chatAnnotation(each, before.length);
            if (annotation) annotations.push(annotation);
          }
        }
      }
    } else if (item.kind === 'function_call') {
      calls.push(showChatCall(item));
    } else if (item.kind === 'reasoning') {
      for (const text of item.parts) if (text) thoughts.push(text);
      if (item.sealed !== undefined)
        details.push({
          type: 'reasoning.encrypted',
          data: item.sealed,
          id: item.id,
          format: sealedFormat,
          index,
        });
    }
  });
  return {
    role: 'assistant',
    content,
    refusal,
    ...(images.length > 0 && { images }),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

/**
 * An annotation of the Responses format in this one, which has those of pages only, nested; undefined for others. Positions are
 * those in a part, which `offset` characters precede in the message.
 */
export function chatAnnotation({ type, ...citation }: Json, offset: number): Json | undefined {
  if (type !== 'url_citation') return undefined;
  const { start_index: start, end_index: end } = citation;
  const moved = {
    ...citation,
    ...(typeof start === 'number' && { start_index: start + offset }),
    ...(typeof end === 'number' && { end_index: end + offset }),
  };
  return { type, url_citation: moved };
}

/** A tool call of a message. */
export function showChatCall(call: ToolName & { callId: string; arguments: string }): Json {
  const { callId: id, name, custom, arguments: text } = call;
  return custom
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } };
}

function logprobsOf(output: Output): Json | null {
  const content = output.items.flatMap((item) =>
    item.kind === 'message'
      ? item.parts.flatMap((part) => (part.type === 'output_text' ? part.logprobs : []))
      : [],
  );
  return content.length > 0 ? { content, refusal: null } : null;
}

/** All text of a chat message or delta: content, refusal, reasoning and the input of tool calls. */
export function textsIn(message: unknown): string[] {
  if (!isObject(message)) return [];
  const { content, refusal, reasoning_content, reasoning, tool_calls: calls } = message;
  const args = Array.isArray(calls)
    ? calls.map((call) => call?.function?.arguments ?? call?.custom?.input)
    : [];
  const all = [content, refusal, reasoning_content ?? reasoning, ...args];
  return all.filter((text) => typeof text === 'string');
}

/** Neutral items as chat messages. Reasoning and opaque items are left out. */
export function renderMessages(items: readonly InputItem[]): Json[] {
  const messages: Json[] = [];
  for (const item of items) {
    if (item.type === 'message') messages.push({ role: item.role, content: contentOf(item.content) });
    else if (item.type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: item.callId, content: contentOf(item.output) });
    else if (item.type === 'function_call') {
      const call = showChatCall(item);
      const last = messages.at(-1);
      const calls = last?.role === 'assistant' ? (last.tool_calls ?? []) : undefined;
      if (last && Array.isArray(calls)) last.tool_calls = [...calls, call];
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
    }
  }
  return messages;
}

function contentOf(parts: readonly ContentPart[]): string | Json[] {
  if (parts.every((part) => part.type === 'text')) return parts.map(({ text }) => text).join('');
  return parts.map(partOf);
}

function partOf(part: ContentPart): Json {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image':
      return { type: 'image_url', image_url: { url: part.url, ...(part.detail && { detail: part.detail }) } };
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
    case 'file':
      if (part.upload) return { type: 'file', file: { file_id: part.upload.id } };
      return { type: 'file', file: { filename: part.filename, file_data: part.data ?? part.url } };
  }
}
