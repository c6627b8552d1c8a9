import type { MediaTokens, Tokens } from '../../../../shared/money.ts';
import type { FinishReason } from '../../../features/inference/neutral.ts';
import type { Json } from '../../json.ts';
import { isObject } from '../../json.ts';

/** Where a document or chunk tells its usage: `usage`, or Groq's `x_groq.usage`. */
export function chatTokensIn(json: Json): Tokens | undefined {
  const usage = json.usage ?? (isObject(json.x_groq) ? json.x_groq.usage : undefined);
  return isObject(usage) ? chatTokens(usage) : undefined;
}

/** Usage of the chat format, with DeepSeek's names for what was cached. */
function chatTokens(usage: Json): Tokens | undefined {
  if (typeof usage.prompt_tokens !== 'number' && typeof usage.completion_tokens !== 'number')
    return undefined;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const input = count(usage.prompt_tokens);
  const told = count(usage.completion_tokens);
  const reasoning = count(completion.reasoning_tokens);
  // xAI counts thoughts beside the completion; its total gives it away.
  const isBeside = reasoning > 0 && count(usage.total_tokens) === input + told + reasoning;
  const media = mediaTokens(prompt, completion);
  return {
    ...(media && { media }),
    input,
    cachedInput: Math.min(input, count(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens)),
    cacheWrite: count(prompt.cache_write_tokens),
    output: isBeside ? told + reasoning : told,
    reasoning,
  };
}

/** Sound and pictures, told by the providers that have them; OpenRouter tells pictures. */
function mediaTokens(prompt: Json, completion: Json): MediaTokens | undefined {
  const audioInput = count(prompt.audio_tokens);
  const audioOutput = count(completion.audio_tokens);
  const imageOutput = count(completion.image_tokens);
  if (audioInput + audioOutput + imageOutput === 0) return undefined;
  return { audioInput, cachedAudio: 0, audioOutput, imageOutput };
}

/** A number of tokens as a provider told it; 0 for what is none. */
export function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Undefined for a reason that is a failure in truth. */
export function finishReasonOf(reason: string): FinishReason | undefined {
  if (reason === 'length' || reason === 'model_length' || reason === 'max_tokens') return 'max_output_tokens';
  if (reason === 'content_filter' || reason === 'refusal' || reason === 'safety') return 'content_filter';
  return reason === 'error' || reason === 'insufficient_system_resource' ? undefined : 'stop';
}

/**
 * Puts right the finish reason of a choice with calls: some servers end it with `stop`, and clients take that for the end
 * of their loop. Tells whether it was wrong.
 */
export function repairFinish(choice: Json): boolean {
  if (choice.finish_reason !== 'stop') return false;
  choice.finish_reason = 'tool_calls';
  return true;
}
