import type { ServiceAnswer } from '../../../../../shared/contract/service-member.ts';
import type { Tokens } from '../../../../../shared/money.ts';
import { chatPicture } from '../../../../../shared/pictures.ts';
import type { Json } from '../../fault.ts';
import type { FinishReason } from '../../neutral.ts';
import { type Output, pictureOf } from '../../pipeline/output.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { sealedFormat } from './messages.ts';

/** Token counts in the chat format, with what the call cost. */
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

/** `stop` with function calls is `tool_calls` here; a cut answer says so even when it holds calls. */
export function finishReason(output: Output, finish: FinishReason): string {
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  return output.items.some((item) => item.kind === 'function_call') ? 'tool_calls' : 'stop';
}

/** A whole chat completion out of the neutral answer. */
export function wholeChat(options: {
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
  const images = output.items
    .map(pictureOf)
    .filter((picture) => picture !== undefined)
    .map(chatPicture);
  output.items.forEach((item, index) => {
    if (item.kind === 'message') {
      for (const part of item.parts) {
        if (part.type === 'refusal') refusal = (refusal ?? '') + part.refusal;
        else content = (content ?? '') + part.text;
      }
    } else if (item.kind === 'function_call') {
      calls.push({
        id: item.callId,
        type: 'function',
        function: { name: item.name, arguments: item.arguments },
      });
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
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function logprobsOf(output: Output): Json | null {
  const content = output.items.flatMap((item) =>
    item.kind === 'message'
      ? item.parts.flatMap((part) => (part.type === 'output_text' ? part.logprobs : []))
      : [],
  );
  return content.length > 0 ? { content, refusal: null } : null;
}
