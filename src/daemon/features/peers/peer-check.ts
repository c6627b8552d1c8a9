import { type DecisionRequest, yesOrNo } from '../decisions/index.ts';

export interface CheckOutcome {
  name: string;
  result: 'good' | 'failed';
  message: string;
  cardMs: number | null;
  decisionMs: number | null;
  model: string | null;
  /** How many answers were compared with those of another source, and how many were the same. */
  agreement: { compared: number; agreed: number };
}

/** The question of a check. */
export const checkRequest: DecisionRequest = {
  input: 'The sky is blue.',
  questions: [{ type: 'predicate', name: null, instructions: 'Is the sky blue?', options: yesOrNo() }],
};

/** The outcome of a check that failed, for a reason in lower case without a full stop. */
export function failedCheck(name: string, message: string): Omit<CheckOutcome, 'agreement'> {
  return {
    name,
    result: 'failed',
    message: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    cardMs: null,
    decisionMs: null,
    model: null,
  };
}
