import { createHmac } from 'node:crypto';
import type {
  FinishReason,
  Inference,
  InferenceEvent,
  InputItem,
  ReasoningOrigin,
  StartedItem,
} from '../../features/upstreams/neutral.ts';
import type { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import type { Content, PlannedCall, SimulatedAnswer } from './answer.ts';
import { type Conversation, takeWords, type Word } from './conversation.ts';
import { plural } from './format-text.ts';

/** One event and its number of tokens. */
export interface Step {
  event: InferenceEvent;
  tokens: number;
}

export interface Composition {
  steps: Step[];
  /** Thrown after the last step. */
  failure: UpstreamFailure | undefined;
}

export interface ComposeOptions {
  tokensMax: number;
  stop: readonly string[];
  /** Undefined leaves log probabilities out. */
  topLogprobs: number | undefined;
  inputTokens: number;
  origin: ReasoningOrigin;
  makeCallId: () => string;
}

/** Converts an answer to events, ended early by a stop sequence, the token limit or a planned failure. */
export function compose(answer: SimulatedAnswer, options: ComposeOptions): Composition {
  const writer = new Writer(options, answer.failure?.afterTokens);
  const content = cutAtStop(answer.content, options.stop);
  const isComplete = writeContent(writer, content);
  const { steps, tokens, reasoningTokens } = writer;
  if (answer.failure) return { steps, failure: answer.failure.error };
  const finish: FinishReason = isComplete ? content.finish : 'max_output_tokens';
  const stopSequence = isComplete ? content.stopSequence : undefined;
  const counted = {
    input: options.inputTokens,
    cachedInput: 0,
    cacheWrite: 0,
    output: tokens,
    reasoning: reasoningTokens,
  };
  steps.push(
    { event: { type: 'usage', tokens: { ...counted, ...answer.tokens } }, tokens: 0 },
    {
      event: { type: 'finished', reason: finish, ...(stopSequence !== undefined && { stopSequence }) },
      tokens: 0,
    },
  );
  return { steps, failure: undefined };
}

/** Ends the content before the first stop sequence in the text; calls would come after it. */
function cutAtStop(content: Content, stop: readonly string[]): Content {
  const { text } = content;
  if (text === undefined) return content;
  const [first] = stop
    .map((sequence) => ({ sequence, at: sequence === '' ? -1 : text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  if (first === undefined) return content;
  const { at, sequence: stopSequence } = first;
  return { ...content, text: text.slice(0, at), refusal: undefined, calls: [], stopSequence };
}

/** Returns whether all of it could be written. */
function writeContent(writer: Writer, { reasoning, text, refusal, calls }: Content): boolean {
  if (reasoning.length > 0 && !writer.reasoning(reasoning)) return false;
  if ((text !== undefined || refusal !== undefined) && !writer.message(text ?? '', refusal ?? ''))
    return false;
  return calls.every((call) => writer.call(call));
}

/** Each method writes one item and returns whether there were enough tokens for all of it. */
class Writer {
  readonly steps: Step[] = [];
  tokens = 0;
  reasoningTokens = 0;
  #index = -1;
  readonly #options: ComposeOptions;
  readonly #tokensMax: number;
  readonly #isBreaking: boolean;

  /** With `breakAfterTokens`, an item that is cut there stays unfinished. */
  constructor(options: ComposeOptions, breakAfterTokens: number | undefined) {
    this.#options = options;
    this.#tokensMax = Math.min(options.tokensMax, breakAfterTokens ?? Number.POSITIVE_INFINITY);
    this.#isBreaking = breakAfterTokens !== undefined;
  }

  reasoning(paragraphs: readonly string[]): boolean {
    const index = this.#start({ kind: 'reasoning' });
    const isComplete = paragraphs.every((paragraph, part) =>
      this.#write(paragraph, ({ text }) => ({ type: 'reasoning', index, part, delta: text })),
    );
    this.reasoningTokens = this.tokens;
    // An incomplete thought cannot be sent back.
    const origin = isComplete ? { origin: this.#options.origin } : undefined;
    return this.#end({ type: 'item-done', index, ...origin }, isComplete);
  }

  message(text: string, refusal: string): boolean {
    if (text + refusal !== '' && !this.#mayStart()) return false;
    const index = this.#start({ kind: 'message' });
    const { topLogprobs } = this.#options;
    const isComplete =
      this.#write(text, (word) => ({
        type: 'text',
        index,
        delta: word.text,
        ...(topLogprobs !== undefined && { logprobs: logprobsOf(word.tokens, topLogprobs) }),
      })) && this.#write(refusal, (word) => ({ type: 'refusal', index, delta: word.text }));
    return this.#end({ type: 'item-done', index }, isComplete);
  }

  call({ name, arguments: argumentText }: PlannedCall): boolean {
    if (!this.#mayStart()) return false;
    const index = this.#start({ kind: 'function_call', callId: this.#options.makeCallId(), name });
    const isComplete = this.#write(argumentText, ({ text }) => ({ type: 'arguments', index, delta: text }));
    return this.#end({ type: 'item-done', index }, isComplete);
  }

  #mayStart(): boolean {
    return this.#isBreaking || this.tokens < this.#tokensMax;
  }

  #start(item: StartedItem): number {
    this.#index += 1;
    this.steps.push({ event: { type: 'item-started', index: this.#index, item }, tokens: 0 });
    return this.#index;
  }

  #write(text: string, toEvent: (word: Word) => InferenceEvent): boolean {
    const { words, tokens, isCut } = takeWords(text, this.#tokensMax - this.tokens);
    for (const word of words) this.steps.push({ event: toEvent(word), tokens: word.tokens.length });
    this.tokens += tokens;
    return !isCut;
  }

  #end(event: InferenceEvent, isComplete: boolean): boolean {
    if (isComplete || !this.#isBreaking) this.steps.push({ event, tokens: 0 });
    return isComplete;
  }
}

interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[];
}

/** One entry of `logprobs` on output text, in the shape of the Responses format. */
interface Logprob extends TokenLogprob {
  top_logprobs: TokenLogprob[];
}

const otherTokens =
  ' the| a| of| and| to| in| is| that| it| for| as| with| on| be| this| by| an| are| or| from| at'.split('|');

/**
 * Made up but well-formed: a token always has the same probability; the alternatives start with the token itself, decrease
 * and sum to less than one.
 */
export function logprobsOf(tokens: readonly string[], topLogprobs: number): Logprob[] {
  return tokens.map((token) => {
    const probability = 0.55 + (hash(token) % 4000) / 10_000;
    const chosen = entry(token, probability);
    const top = topLogprobs > 0 ? [chosen] : [];
    let remaining = 1 - probability;
    for (const other of otherTokens) {
      if (top.length >= topLogprobs) break;
      if (other === token) continue;
      remaining /= 2;
      top.push(entry(other, remaining));
    }
    return { ...chosen, top_logprobs: top };
  });
}

function entry(token: string, probability: number): TokenLogprob {
  return {
    token,
    logprob: Math.round(Math.log(probability) * 1e6) / 1e6,
    bytes: [...Buffer.from(token)],
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  }
  return value >>> 0;
}

/** The payload that the simulator's reasoning is sent back with. Like a real provider's signature, it is verified. */
interface Thought {
  turn: number;
  signature: string;
}

export const provider = 'simulator';

// Not a secret: it only detects changed payloads.
const signingKey = 'simulated reasoning';

export function originOf(model: string, turn: number): ReasoningOrigin {
  const thought: Thought = { turn, signature: sign(model, turn) };
  return { provider, model, payload: thought };
}

/** How many items are this model's own earlier thoughts, unchanged. */
export function countRecognized(items: readonly InputItem[], model: string): number {
  return items.filter((item) => item.type === 'reasoning' && isOwn(item.origin, model)).length;
}

function isOwn(origin: ReasoningOrigin | undefined, model: string): boolean {
  if (origin?.provider !== provider || origin.model !== model) return false;
  const { payload } = origin;
  if (typeof payload !== 'object' || payload === null) return false;
  const { turn, signature } = payload as Partial<Thought>;
  return typeof turn === 'number' && signature === sign(model, turn);
}

function sign(model: string, turn: number): string {
  return createHmac('sha256', signingKey).update(`${model}\n${turn}`).digest('base64url').slice(0, 22);
}

/** Whether the caller requests reasoning, by an effort or at least a summary. */
export function isReasoning({ reasoning }: Inference): boolean {
  if (reasoning?.effort !== undefined) return reasoning.effort !== 'none';
  return reasoning?.summary !== undefined;
}

/** A summary with more paragraphs for more effort. `plan` describes the answer in a few words. */
export function summaryOf(inference: Inference, conversation: Conversation, plan: string): string[] {
  const { toolResults, userText, tools } = conversation;
  const observation =
    toolResults.length > 0
      ? `The request ends with ${plural(toolResults.length, 'tool result')}.`
      : `The user wrote ${plural(userText.length, 'character')}.`;
  const paragraphs = [
    `**Reading the request**\n\n${observation}`,
    `**Choosing an answer**\n\n${plan}`,
    `**Checking it**\n\nThis is turn ${conversation.turn} with ${plural(tools.length, 'tool')} offered; the plan holds.`,
  ];
  return paragraphs.slice(0, paragraphCount(inference.reasoning?.effort));
}

function paragraphCount(effort: string | undefined): number {
  if (effort === 'minimal' || effort === 'low') return 1;
  return effort === undefined || effort === 'medium' ? 2 : 3;
}
