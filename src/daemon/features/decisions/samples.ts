import { isObject, type Json } from '../../../shared/faults/invalid-request.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { startingAt } from './debias.ts';
import { mean, normalised, topOf } from './distribution.ts';
import type { CallModel } from './model-call.ts';
import { letters, probabilitiesPrompt } from './prompt.ts';
import type { Question } from './question.ts';

/** Models that cannot be kept from thinking need room for it. */
const outputTokensBase = 2048;
const outputTokensPerOption = 16;

/** One answer about a question. */
export interface Sample {
  /** By option. */
  probabilities: number[];
  /** Whether the model only named an option. */
  isVote: boolean;
  /** The option that was shown first. */
  first: number;
}

/**
 * The average of the samples, in which every order of the options weighs the same, so that a preference for positions cancels
 * out. Votes alone are smoothed, so that no option becomes impossible.
 */
export function combined(
  samples: readonly Sample[],
  options: number,
): { probabilities: number[]; agreement: number } {
  const tops = samples.map(({ probabilities }) => topOf(probabilities));
  const counts = Array.from({ length: options }, (_, at) => tops.filter((top) => top === at).length);
  const agreement = Math.max(...counts) / samples.length;
  const byOrder = Map.groupBy(samples, ({ first }) => first).values();
  const ofOrders = [...byOrder].map((same) => mean(same.map(({ probabilities }) => probabilities)));
  const average = mean(ofOrders);
  if (!samples.every(({ isVote }) => isVote)) return { probabilities: average, agreement };
  return { probabilities: normalised(average.map((share) => share * samples.length + 0.5)), agreement };
}

/** Asks once, showing the options from the given one on. Undefined if the answer cannot be read. */
export async function drawSample(
  input: string,
  question: Question,
  first: number,
  call: CallModel,
): Promise<Sample | 'refused' | undefined> {
  const { length } = question.options;
  const keys = keysFor(length);
  const options = startingAt(question.options, first).map((option, shown) => ({
    ...option,
    key: keys[shown] ?? '',
  }));
  const { text, refused } = await call({
    ...probabilitiesPrompt(input, question, options),
    outputTokensMax: outputTokensBase + outputTokensPerOption * length,
    schema: schemaOf(keys),
  });
  return refused ? 'refused' : readSample(text, keys, first);
}

function keysFor(count: number): string[] {
  return [...letters.slice(0, count)];
}

function schemaOf(keys: readonly string[]): Json {
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'number' }]));
  return { type: 'object', properties, required: [...keys], additionalProperties: false };
}

function readSample(text: string, keys: readonly string[], first: number): Sample | undefined {
  const json = objectIn(text);
  const isVote = !json || keys.every((key) => clamped(json[key]) === 0);
  const named = keys.indexOf(trimEnd(text.trim(), '.)"\'*'));
  if (isVote && named < 0) return undefined;
  const shown = keys.map((key, at) => (isVote ? Number(at === named) : clamped(json[key])));
  return { probabilities: startingAt(normalised(shown), keys.length - first), isVote, first };
}

function clamped(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : 0;
}

/** The JSON object in a text, which may have words or a code fence around it. */
function objectIn(text: string): Json | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
