import type { MediaTokens, Tokens } from '../../../shared/money/money.ts';
import { areCounts, countOf, type Json, objectsOf } from '../json.ts';

/**
 * Reads usage in OpenAI's formats. Servers mix the names of both with those of Anthropic, DeepSeek and Moonshot, and some leave cached
 * tokens out of the prompt, as Anthropic does. Source: their API references; BerriAI/litellm#36933, BerriAI/litellm#35127.
 */
export function openAiTokens(usage: Json): Tokens | undefined {
  const prompt = either(usage.prompt_tokens, usage.input_tokens);
  const completion = either(usage.completion_tokens, usage.output_tokens);
  if (!areCounts(prompt, completion)) return undefined;
  const inputs = detailsOf(usage, 'prompt_tokens_details', 'input_tokens_details');
  const outputs = detailsOf(usage, 'completion_tokens_details', 'output_tokens_details');
  const answered = tokenCount(completion);
  const thoughts = mostOf([usage, ...outputs], 'reasoning_tokens');
  const cache = cacheIn([usage, ...inputs]);
  const input = tokenCount(prompt) + apartFromPrompt(usage, tokenCount(prompt), answered, cache, thoughts);
  const output = outputWithin(usage.total_tokens, input, answered);
  const cachedInput = Math.min(input, cache.read);
  const cacheWrite = Math.min(input - cachedInput, cache.written);
  const longCacheWrite = Math.min(cacheWrite, cache.writtenForLong);
  const media = mediaTokens(inputs, outputs);
  return {
    ...(media && { media }),
    input,
    cachedInput,
    cacheWrite,
    ...(longCacheWrite > 0 && { longCacheWrite }),
    output,
    reasoning: Math.max(thoughts, output - answered),
  };
}

/** The count of either name: servers that write both have 0 or null in the one that they do not use. */
function either(first: unknown, second: unknown): unknown {
  return first === undefined || first === null || countOf(first) === 0 ? (second ?? first) : first;
}

function detailsOf(usage: Json, ...names: string[]): Json[] {
  return objectsOf(names.map((name) => usage[name]));
}

interface CacheTokens {
  read: number;
  written: number;
  /** The part of `written` that is kept for an hour. */
  writtenForLong: number;
}

/** Source: the API references of LiteLLM and new-api for the written tokens by how long they are kept. */
function cacheIn(places: readonly Json[]): CacheTokens {
  const byTime = places.flatMap((place) =>
    detailsOf(place, 'cache_creation', 'cache_creation_token_details'),
  );
  const forLong = Math.max(
    mostOf(byTime, 'ephemeral_1h_input_tokens'),
    mostOf(places, 'claude_cache_creation_1_h_tokens'),
  );
  const forShort = Math.max(
    mostOf(byTime, 'ephemeral_5m_input_tokens'),
    mostOf(places, 'claude_cache_creation_5_m_tokens'),
  );
  return {
    read: mostOf(places, 'cached_tokens', 'prompt_cache_hit_tokens', 'cache_read_input_tokens'),
    written: Math.max(
      forLong + forShort,
      mostOf(places, 'cache_write_tokens', 'cache_creation_tokens', 'cached_creation_tokens'),
      mostOf(places, 'cache_creation_input_tokens', 'prompt_cache_write_tokens'),
    ),
    writtenForLong: forLong,
  };
}

/**
 * The tokens of the cache that the count of the prompt leaves out: the total contains them, or they are more than the prompt.
 * Source: ai-dynamo/dynamo#12473, Willxup/cpa-usage-keeper#107.
 */
function apartFromPrompt(
  usage: Json,
  prompt: number,
  answered: number,
  { read, written }: CacheTokens,
  thoughts: number,
): number {
  const all = read + written;
  const excess = tokenCount(usage.total_tokens) - prompt - answered;
  for (const part of [all, read, written]) {
    const isExcess = part === excess && part !== thoughts;
    if (part > 0 && (isExcess || part === excess - thoughts)) return part;
  }
  return all > prompt ? all : 0;
}

/** The output, with thoughts that some providers, such as xAI and Gemini, count in the total only. */
function outputWithin(total: unknown, input: number, output: number): number {
  // Without the input, the total says nothing of the output.
  return input === 0 ? output : Math.max(output, tokenCount(total) - input);
}

/** Audio and image tokens, from the providers that report them; OpenRouter reports images. */
function mediaTokens(inputs: readonly Json[], outputs: readonly Json[]): MediaTokens | undefined {
  const audioInput = mostOf(inputs, 'audio_tokens');
  const audioOutput = mostOf(outputs, 'audio_tokens');
  const imageOutput = mostOf(outputs, 'image_tokens');
  if (audioInput + audioOutput + imageOutput === 0) return undefined;
  return { audioInput, cachedAudio: 0, audioOutput, imageOutput };
}

/** The highest count of these names in these places. */
function mostOf(places: readonly Json[], ...names: string[]): number {
  let most = 0;
  for (const place of places)
    for (const name of names) if (place[name] !== undefined) most = Math.max(most, tokenCount(place[name]));
  return most;
}

function tokenCount(value: unknown): number {
  return countOf(value) ?? 0;
}
