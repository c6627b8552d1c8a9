import { decisionSamplesMax } from '../../../shared/contract/decisions.ts';
import { isObject, type Json } from '../../../shared/invalid-request.ts';
import { trimEnd } from '../../../shared/trim-text.ts';
import { SourceFailure } from './decision-source.ts';
import { mean, normalised, topOf } from './distribution.ts';
import type { CallModel } from './model-call.ts';
import { letters, probabilitiesPrompt } from './prompt.ts';
import type { Option, Question, QuestionAnswer } from './question.ts';

/** So many samples that agree end the sampling. */
const agreeingMin = 3;
const samplesDefault = 5;
/** Models that cannot be kept from thinking need room for it. */
const outputTokensBase = 2048;
const outputTokensPerOption = 16;

interface Sample {
  /** By option of the question. */
  probabilities: number[];
  /** Whether the model only named an option. */
  isVote: boolean;
  /** The option that was shown first. */
  first: number;
}

/**
 * Asks for a probability per option in a JSON object, several times and with the options in different orders, and averages
 * them. Stops after three samples that prefer the same option. Votes count where a model names an option instead.
 * Fails with a `SourceFailure` if no sample can be read.
 */
export async function askForProbabilities(
  input: string,
  question: Question,
  samplesAsked: number | undefined,
  call: CallModel,
): Promise<QuestionAnswer> {
  const samplesMax = samplesAsked ?? defaultSamples(question.options.length);
  const take = async (at: number) => {
    const first = startOf(at, samplesMax, question.options.length);
    return readSample(question, await sampleOnce(input, question, first, call));
  };
  const first = Math.min(samplesMax, agreeingMin);
  const drawn = await Promise.all(places(0, first).map(take));
  if (samplesMax > first && !isUnanimous(drawn)) {
    drawn.push(...(await Promise.all(places(first, samplesMax).map(take))));
  }
  const read = drawn.filter((sample) => typeof sample === 'object');
  if (read.length === 0) {
    if (drawn.includes('refused')) return { refused: true, diagnostics: { samples: drawn.length } };
    throw new SourceFailure('wrong_shape', 'the model wrote no probabilities');
  }
  return combined(read, question.options.length);
}

/** Five, or up to nine so that each option is shown first once. */
function defaultSamples(options: number): number {
  return Math.min(decisionSamplesMax, Math.max(samplesDefault, options));
}

function isUnanimous(drawn: readonly (Sample | 'refused' | undefined)[]): boolean {
  const tops = drawn.map((sample) => (typeof sample === 'object' ? topOf(sample.probabilities) : -1));
  return tops.every((top) => top >= 0 && top === tops[0]);
}

/** The option that a sample shows first: each one once, as far as there are as many samples as options. */
function startOf(at: number, samplesMax: number, options: number): number {
  return Math.round(at * Math.max(1, options / samplesMax)) % options;
}

/**
 * The average of the samples, in which every order of the options weighs the same, so that a preference for positions cancels
 * out. Votes alone are smoothed, so that no option becomes impossible.
 */
export function combined(samples: readonly Sample[], options: number): QuestionAnswer {
  const tops = samples.map(({ probabilities }) => topOf(probabilities));
  const counts = Array.from({ length: options }, (_, at) => tops.filter((top) => top === at).length);
  const agreement = Math.max(...counts) / samples.length;
  const diagnostics = { samples: samples.length, agreement };
  if (samples.every(({ isVote }) => isVote)) {
    const total = samples.length + options / 2;
    return { probabilities: normalised(counts.map((count) => (count + 0.5) / total)), diagnostics };
  }
  const byOrder = Map.groupBy(samples, ({ first }) => first).values();
  const ofOrders = [...byOrder].map((same) => mean(same.map(({ probabilities }) => probabilities)));
  return { probabilities: mean(ofOrders), diagnostics };
}

interface Drawn {
  text: string;
  refused: boolean;
  /** Places of the options, in the order in which they were shown. */
  order: readonly number[];
}

async function sampleOnce(input: string, question: Question, first: number, call: CallModel): Promise<Drawn> {
  const { length } = question.options;
  const order = places(first, first + length).map((place) => place % length);
  const keys = keysFor(length);
  const options = order.map((place, shown) => ({
    ...(question.options[place] as Option),
    key: keys[shown] as string,
  }));
  const { text, refused } = await call({
    ...probabilitiesPrompt(input, question, options),
    outputTokensMax: outputTokensBase + outputTokensPerOption * length,
    schema: schemaOf(keys),
  });
  return { text, refused, order };
}

/** Letters, or numbers for more options than letters. */
function keysFor(count: number): string[] {
  return places(0, count).map((at) => (count <= letters.length ? (letters[at] ?? '') : `option_${at + 1}`));
}

function schemaOf(keys: readonly string[]): Json {
  const properties = Object.fromEntries(keys.map((key) => [key, { type: 'number' }]));
  return { type: 'object', properties, required: [...keys], additionalProperties: false };
}

/** Undefined if the answer cannot be read. */
function readSample(question: Question, { text, refused, order }: Drawn): Sample | 'refused' | undefined {
  if (refused) return 'refused';
  const keys = keysFor(question.options.length);
  const json = objectIn(text);
  const [first = 0] = order;
  const byOption = Array<number>(order.length).fill(0);
  if (json) {
    order.forEach((place, shown) => {
      byOption[place] = clamped(json[keys[shown] ?? '']);
    });
    if (byOption.some((value) => value > 0))
      return { probabilities: normalised(byOption), isVote: false, first };
  }
  const named = keys.indexOf(trimEnd(text.trim(), '.)"\'*'));
  const place = order[named];
  if (place === undefined) return undefined;
  byOption[place] = 1;
  return { probabilities: byOption, isVote: true, first };
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

function places(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
