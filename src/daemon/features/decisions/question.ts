import type { QuestionType } from '../../../shared/contract/decisions.ts';

/** One of the answers that a question offers. */
export interface Option {
  /** As the caller wrote it: a choice, the index of a level, or whether a predicate is true. */
  value: string | boolean | number;
  /** As the model sees it. */
  label: string;
  description?: string | undefined;
}

/** A question in the common form of both formats: which of its options applies? */
export interface Question {
  type: QuestionType;
  name: string | null;
  instructions: string;
  /** At least two. Of a predicate: true, then false. */
  options: readonly Option[];
}

export interface DecisionRequest {
  /** The evidence, as text. */
  input: string;
  questions: readonly Question[];
}

/** How an answer was found; members that do not apply are absent. */
export interface Diagnostics {
  /** The probability of all offered options together, before it was scaled to 1. */
  mass?: number;
  /** In how many orders the options were shown. */
  permutations?: number;
  /** Whether an option was not among the reported tokens, so that its probability is an upper bound. */
  truncated?: boolean;
  samples?: number;
  /** The share of samples that prefer the most frequently preferred option. */
  agreement?: number;
  /** The fitted temperature that was applied. */
  temperature?: number;
}

/** The probabilities of a question's options, in their order, or that the model declined to answer. */
export type QuestionAnswer =
  | { probabilities: readonly number[]; diagnostics: Diagnostics }
  | { refused: true; diagnostics: Diagnostics };

/** `native`: by a decision endpoint. `sampled`: written down by the model, averaged over samples. */
export type Method = 'native' | 'token_probabilities' | 'sampled';

export type Debias = 'auto' | 'off' | 'full';

const predicateOptions: readonly Option[] = [
  { value: true, label: 'Yes' },
  { value: false, label: 'No' },
];

/** The options of a predicate. `when` describes when it is true and when it is false. */
export function yesOrNo(when: { true?: string | null; false?: string | null } = {}): readonly Option[] {
  return predicateOptions.map((option) => ({
    ...option,
    description: (option.value ? when.true : when.false) ?? undefined,
  }));
}
