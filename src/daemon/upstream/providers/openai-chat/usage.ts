import { listOf } from '../../../../shared/json/json-object.ts';
import type { MediaTokens, Tokens } from '../../../../shared/money/money.ts';
import type { Json } from '../../json.ts';
import { areCounts, countOf, isObject, objectOf } from '../../json.ts';

/** The usage in a document or chunk: `usage`, Groq's `x_groq.usage`, or that of a choice, as Moonshot writes it. */
export function chatUsageIn({ usage, x_groq, choices }: Json): Json | undefined {
  const ofChoice = () => objectOf(objectOf(listOf(choices)[0])?.usage);
  return objectOf(usage) ?? objectOf(objectOf(x_groq)?.usage) ?? ofChoice();
}

/**
 * Reads usage in the chat format, including other names for cached tokens: those of Moonshot, DeepSeek, and of Anthropic, which LiteLLM
 * and Databricks use. Source: their API references; BerriAI/litellm#36933, BerriAI/litellm#35127.
 */
export function chatTokens(usage: Json): Tokens | undefined {
  const { prompt_tokens = usage.input_tokens, completion_tokens = usage.output_tokens } = usage;
  if (!areCounts(prompt_tokens, completion_tokens)) return undefined;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const responses = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const cached = mostOf(
    prompt.cached_tokens,
    responses.cached_tokens,
    usage.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cache_read_input_tokens,
  );
  const prompted = tokenCount(prompt_tokens);
  // Some servers leave cached tokens out of the prompt, as Anthropic does, but not out of the total.
  const isApart = cached > prompted && tokenCount(usage.total_tokens) >= prompted + cached;
  const input = isApart ? prompted + cached : prompted;
  const output = outputWithin(usage.total_tokens, input, tokenCount(completion_tokens));
  const media = mediaTokens(prompt, completion);
  return {
    ...(media && { media }),
    input,
    cachedInput: Math.min(input, cached),
    cacheWrite: Math.min(
      Math.max(0, input - cached),
      mostOf(prompt.cache_write_tokens, prompt.cache_creation_tokens, usage.cache_creation_input_tokens),
    ),
    output,
    reasoning: Math.max(tokenCount(completion.reasoning_tokens), output - tokenCount(completion_tokens)),
  };
}

/** The output, with thoughts that some providers, such as xAI and Gemini, count in the total only. */
export function outputWithin(total: unknown, input: number, output: number): number {
  // Without the input, the total says nothing of the output.
  return input === 0 ? output : Math.max(output, tokenCount(total) - input);
}

/** Later usage with the counts of earlier usage that it has as 0. */
export function laterTokens(earlier: Tokens | undefined, later: Tokens): Tokens {
  if (earlier === undefined || (later.input > 0 && later.output > 0)) return later;
  const { input, cachedInput, cacheWrite, output, reasoning } = earlier;
  return {
    ...later,
    ...(later.input === 0 && { input, cachedInput, cacheWrite }),
    ...(later.output === 0 && { output, reasoning }),
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

function mostOf(...values: unknown[]): number {
  return Math.max(...values.map(tokenCount));
}

export function tokenCount(value: unknown): number {
  return countOf(value) ?? 0;
}
