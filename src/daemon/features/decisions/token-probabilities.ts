import { trimEnd } from '../../../shared/text/trim-text.ts';
import type { OrderedAnswer, OrderedQuestion } from './debias.ts';
import { normalised } from './distribution.ts';
import type { CallModel, ModelReply, TokenPosition } from './model-call.ts';
import { letterPrompt, letters } from './prompt.ts';
import type { Option } from './question.ts';

/** The most that OpenAI and vLLM report per position. */
export const topLogprobs = 20;
/** Options per call, so that all letters fit among the reported tokens with room for variants. */
export const lettersMax = 16;
/** Below this, the model wanted to say something else than a letter. */
const massMin = 0.5;
/** For models that start with white space or a word before the letter. */
const retryOutputTokens = 8;

/** Learned properties of a model: whether thinking must be turned off, and whether it reports probabilities. */
export interface ModelHabits {
  withoutThinking: boolean;
}

/** The model gives no usable token probabilities, so it has to be asked in another way. */
export class NoTokenProbabilities extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NoTokenProbabilities';
  }
}

/**
 * The probabilities of the options' letters as the next token. If the model wants to say something else, it is asked once
 * more without thinking. Fails with `NoTokenProbabilities` if that does not help.
 */
export async function askForLetter(
  input: string,
  { question, order }: OrderedQuestion,
  call: CallModel,
  habits: ModelHabits,
): Promise<OrderedAnswer> {
  const options = order.map((index) => question.options[index] as Option);
  const prompt = letterPrompt(input, question, options);
  const ask = (outputTokensMax: number, withoutThinking: boolean) =>
    call({ ...prompt, outputTokensMax, topLogprobs, ...(withoutThinking && { withoutThinking }) });
  if (!habits.withoutThinking) {
    const reply = await ask(1, false);
    if (reply.refused) return { refused: true };
    const read = letterProbabilities(reply, options.length);
    if (read !== undefined && read.mass >= massMin) return read;
  }
  const reply = await ask(retryOutputTokens, true);
  if (reply.refused) return { refused: true };
  const read = letterProbabilities(reply, options.length);
  if (read === undefined) throw new NoTokenProbabilities('the provider reported no token probabilities');
  if (read.mass < massMin) throw new NoTokenProbabilities('the model did not answer with a letter');
  habits.withoutThinking = true;
  return read;
}

/**
 * The distribution over the first `count` letters at the first position that is not blank, and the probability of all of
 * them together. A letter that was not reported gets half of the smallest reported probability, an upper bound.
 * Undefined without any probabilities.
 */
export function letterProbabilities(
  { positions }: Pick<ModelReply, 'positions'>,
  count: number,
): { probabilities: number[]; mass: number; truncated: boolean } | undefined {
  const position = positions.find(({ token }) => plain(token) !== '');
  if (position === undefined) return undefined;
  const weights = Array<number>(count).fill(0);
  for (const { token, probability } of position.candidates) {
    const at = letterIndex(token);
    if (at >= 0 && at < count) weights[at] = (weights[at] ?? 0) + probability;
  }
  const mass = Math.min(
    1,
    weights.reduce((sum, weight) => sum + weight, 0),
  );
  const truncated = weights.includes(0);
  const bound = truncated ? smallest(position) / 2 : 0;
  return { probabilities: normalised(weights.map((weight) => weight || bound)), mass, truncated };
}

function smallest({ candidates }: TokenPosition): number {
  return Math.min(...candidates.map(({ probability }) => probability));
}

/** The index of a token in the alphabet: `A`, ` A`, `A.`, `(A`, `**A`, `"A"`. -1 for other tokens. */
function letterIndex(token: string): number {
  const text = plain(token);
  return text.length === 1 ? letters.indexOf(text) : -1;
}

/** Without white space, also as tokenizers write it, and marks around a letter. */
function plain(token: string): string {
  return trimEnd(token.replace(/^[\s\u2581\u0120\u010a*_"'`([]+/, ''), ' \t\r\n*_"\'`)].:,');
}
