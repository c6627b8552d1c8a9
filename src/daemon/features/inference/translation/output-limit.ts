import { type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';

/** The most output that a provider accepts. */
export interface OutputLimit {
  tokens: number;
  /** Whether it is one of the model, and not what the input of this call leaves of the context. */
  isLasting: boolean;
}

const names =
  /\b(max_tokens|max_completion_tokens|max_output_tokens|max_new_tokens|maxOutputTokens|(output|completion) tokens)\b/i;
const limits =
  /\bat most\b|\bup to\b|less than|<=|≤|greater than|>|\bmaximum\b|\brange\b|exceed|too (large|high|big)|\blimit\b/i;
const context = /\b(?:context (?:length|window|size|limit)|must be <=)\D{0,20}(\d{1,9})/i;

/** Not a part of a name or version. */
const integers = /(?<![\w.-])\d{1,9}(?![\w-])/g;

/** Below that, a shorter conversation helps more than a shorter answer. */
const answerTokensMin = 2_000;

/** What is left of the room, as some servers estimate the input. */
const usableShare = 0.98;

/**
 * The limit that a provider states when it refuses a call because of the output that was asked for, or the least that it takes. Clients
 * ask for more than the models of other providers can give, and few read in the refusal how much would be accepted.
 */
export function statedOutputLimit(error: unknown, call: UpstreamCall): OutputLimit | undefined {
  const requested = call.outputTokensMax ?? call.inference.outputTokensMax;
  if (requested === undefined) return undefined;
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  const { param, publicMessage = '' } = error.details;
  const sentence = publicMessage.slice(0, 600).replace(/(?<=\d),(?=\d{3}(?!\d))/g, '');
  // Of the Responses format: probes of clients ask for one token.
  const least = Number(/\bminimum\b.{0,40}>= ?(\d{1,2})\b/.exec(sentence)?.[1]);
  if (requested < least) return { tokens: least, isLasting: false };
  const numbers = (sentence.match(integers) ?? []).map(Number);
  const room = roomIn(sentence, numbers, requested);
  if (room !== undefined) {
    const tokens = Math.floor(room * usableShare);
    return tokens >= answerTokensMin && tokens < requested ? { tokens, isLasting: false } : undefined;
  }
  if (context.test(sentence) || !names.test(`${param ?? ''} ${sentence}`) || !limits.test(sentence))
    return undefined;
  const tokens = Math.max(0, ...numbers.filter((number) => number < requested));
  return tokens > 1 ? { tokens, isLasting: true } : undefined;
}

/** How much output fits into the context next to the input. */
function roomIn(sentence: string, numbers: readonly number[], requested: number): number | undefined {
  // Anthropic: the input, the output, and the context.
  const sum = /(\d{1,9}) \+ \d{1,9} > (\d{1,9})/.exec(sentence);
  if (sum) return Number(sum[2]) - Number(sum[1]);
  // vLLM: the output, the context, and the input.
  const rest = /\d{1,9} > (\d{1,9}) - (\d{1,9})/.exec(sentence);
  if (rest) return Number(rest[1]) - Number(rest[2]);
  const window = Number(context.exec(sentence)?.[1]);
  if (!numbers.includes(requested)) return undefined;
  const total = numbers.find((number) => number > window && number > requested);
  return total === undefined ? undefined : window - (total - requested);
}
