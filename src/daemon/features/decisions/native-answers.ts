import type { Tokens } from '../../../shared/money/money.ts';
import type { AttemptsCapture } from '../upstreams/upstream.ts';
import type { DebiasOptions, OrderedAnswer } from './debias.ts';
import { SourceFailure } from './decision-source.ts';
import { isDistribution, normalised } from './distribution.ts';
import type { Debias, DecisionRequest, Question } from './question.ts';

/** A provider's own answers, before they are verified. */
export interface NativeAnswer {
  /** The model that answered, as the provider names it. */
  model: string | undefined;
  /** One per question: the probabilities of its options in their order, or a refusal; undefined for another shape. */
  answers: readonly (readonly number[] | 'refused' | undefined)[];
  tokens: Tokens;
  /** Whether the server scaled the probabilities by temperatures that it fitted; absent if it does not say. */
  calibrated?: boolean;
}

export interface NativeCall {
  /** The model's name at the provider. */
  model: string;
  key: string | undefined;
  request: DecisionRequest;
  capture?: AttemptsCapture | undefined;
}

/**
 * Asks the decision endpoint of a provider. Resolves to undefined if the provider or the model has none. Rejects with an
 * `UpstreamFailure`.
 */
export type AskNative = (call: NativeCall, signal: AbortSignal) => Promise<NativeAnswer | undefined>;

/** Servers round probabilities. */
const sumTolerance = 0.02;

/** As many options as a decision model sees at once. */
const optionsMax = 255;
/** What decision endpoints accept in one call. */
const batchQuestionsMax = 64;
const batchBytesMax = 192 * 1024;

/**
 * How the order of options is evened out for models that were made for decisions. They are trusted unless the caller wants
 * every order; only choices have one that means nothing.
 */
export function nativeDebias(mode: Debias, model: string): DebiasOptions {
  return {
    mode: mode === 'full' ? 'full' : 'off',
    model,
    optionsMax,
    canReorder: ({ type }) => type === 'choice',
  };
}

/** Splits questions, of which there are many if they are asked in every order, into calls of an acceptable size. */
export function batchesOf<Asked>(input: string, questions: readonly Asked[]): Asked[][] {
  const batches: Asked[][] = [];
  const inputBytes = Buffer.byteLength(JSON.stringify(input));
  let bytes = Number.POSITIVE_INFINITY;
  for (const question of questions) {
    const questionBytes = Buffer.byteLength(JSON.stringify(question));
    const last = batches.at(-1);
    if (last && last.length < batchQuestionsMax && bytes + questionBytes <= batchBytesMax) {
      last.push(question);
      bytes += questionBytes;
    } else {
      batches.push([question]);
      bytes = inputBytes + questionBytes;
    }
  }
  return batches;
}

/**
 * The answers of a decision endpoint; fails with a `SourceFailure` if they do not fit the questions: `tolerance` is how far
 * from 1 the sums may be.
 */
export function verified(
  questions: readonly Pick<Question, 'options'>[],
  { answers }: Pick<NativeAnswer, 'answers'>,
  tolerance = sumTolerance,
): OrderedAnswer[] {
  return questions.map(({ options }, at) => {
    const answer = answers[at];
    if (answer === 'refused') return { refused: true };
    if (
      answer === undefined ||
      answers.length !== questions.length ||
      !isDistribution(answer, options.length, tolerance)
    )
      throw new SourceFailure('wrong_shape', 'the answers do not fit the questions');
    return { probabilities: normalised(answer) };
  });
}
