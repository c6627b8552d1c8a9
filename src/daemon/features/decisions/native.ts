import type { Tokens } from '../../../shared/money.ts';
import { isDistribution, normalised } from './distribution.ts';
import type { DecisionRequest, QuestionAnswer } from './question.ts';
import { SourceFailure } from './source.ts';

/** A provider's own answers, before they are verified. */
export interface NativeAnswer {
  /** The model that answered, as the provider names it. */
  model: string | undefined;
  /** One per question: the probabilities of its options in their order, or a refusal; undefined for another shape. */
  answers: readonly (readonly number[] | 'refused' | undefined)[];
  tokens: Tokens;
}

export interface NativeCall {
  /** The model's name at the provider. */
  model: string;
  key: string | undefined;
  request: DecisionRequest;
}

/**
 * Asks the decision endpoint of a provider. Resolves to undefined if the provider or the model has none. Rejects with an
 * `UpstreamFailure`.
 */
export type AskNative = (call: NativeCall, signal: AbortSignal) => Promise<NativeAnswer | undefined>;

/** Servers round probabilities. */
const sumTolerance = 0.02;

/** The answers of a decision endpoint; fails with a `SourceFailure` if they do not fit the questions. */
export function verified({ questions }: DecisionRequest, { answers }: NativeAnswer): QuestionAnswer[] {
  return questions.map(({ options }, at) => {
    const answer = answers[at];
    if (answer === 'refused') return { refused: true, diagnostics: {} };
    if (
      answer === undefined ||
      answers.length !== questions.length ||
      !isDistribution(answer, options.length, sumTolerance)
    )
      throw new SourceFailure('wrong_shape', 'the answers do not fit the questions');
    return { probabilities: normalised(answer), diagnostics: {} };
  });
}
