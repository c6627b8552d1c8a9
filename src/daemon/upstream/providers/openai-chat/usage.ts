import type { MediaTokens, Tokens } from '../../../../shared/money.ts';
import type { Json } from '../../json.ts';
import { areCounts, isObject } from '../../json.ts';

/** The usage in a document or chunk: `usage`, or Groq's `x_groq.usage`. */
export function chatTokensIn(json: Json): Tokens | undefined {
  const usage = json.usage ?? (isObject(json.x_groq) ? json.x_groq.usage : undefined);
  return isObject(usage) ? chatTokens(usage) : undefined;
}

/** Reads usage in the chat format, including DeepSeek's name for cached tokens. */
function chatTokens(usage: Json): Tokens | undefined {
  if (!areCounts(usage.prompt_tokens, usage.completion_tokens)) return undefined;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const input = tokenCount(usage.prompt_tokens);
  const completionTokens = tokenCount(usage.completion_tokens);
  const reasoning = tokenCount(completion.reasoning_tokens);
  // xAI counts thoughts separately from the completion, as its total shows.
  const isSeparate = reasoning > 0 && tokenCount(usage.total_tokens) === input + completionTokens + reasoning;
  const media = mediaTokens(prompt, completion);
  return {
    ...(media && { media }),
    input,
    cachedInput: Math.min(input, tokenCount(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens)),
    cacheWrite: tokenCount(prompt.cache_write_tokens),
    output: isSeparate ? completionTokens + reasoning : completionTokens,
    reasoning,
  };
}

/** Audio and image tokens, from the providers that report them; OpenRouter reports images. */
function mediaTokens(prompt: Json, completion: Json): MediaTokens | undefined {
  const audioInput = tokenCount(prompt.audio_tokens);
  const audioOutput = tokenCount(completion.audio_tokens);
  const imageOutput = tokenCount(completion.image_tokens);
  if (audioInput + audioOutput + imageOutput === 0) return undefined;
  return { audioInput, cachedAudio: 0, audioOutput, imageOutput };
}

/** The value if it is a positive integer, else 0. */
export function tokenCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
