import type {
  FunctionCallItem,
  FunctionOutputItem,
  Inference,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../features/inference/upstream.ts';

export interface UserTurn {
  role: 'user';
  /** The outputs of all calls of the turn before, in the order of the calls. They come before the messages. */
  results: FunctionOutputItem[];
  messages: MessageItem[];
}

export interface AssistantTurn {
  role: 'assistant';
  items: Round['items'];
}

export type Turn = UserTurn | AssistantTurn;

export interface Conversation {
  /** Instructions, then what system and developer say before anybody else. */
  system: string[];
  turns: Turn[];
}

/** Providers with strict turns want the first word, and most the last, to be the user's. */
const nudge = 'Continue.';

/**
 * Items as turns of alternating roles, for providers that insist on them: messages of one role are merged, and every
 * function's output moves to the turn right after its call. System messages in the middle become the user's.
 * Throws an UpstreamFailure of kind `caller` for an output without a call.
 */
export function conversationOf(inference: Inference): Conversation {
  const system: string[] = isBlank(inference.instructions) ? [] : [inference.instructions as string];
  const { items } = inference;
  let first = 0;
  for (; first < items.length; first++) {
    const text = systemText(items[first]);
    if (text === undefined) break;
    if (!isBlank(text)) system.push(text);
  }
  const said = items.slice(first).filter((item) => item.type !== 'message' || !saysNothing(item));
  const turns = roundsOf(said).flatMap(turnsOf);
  // A conversation of nothing but system messages: the last of them is what is to be answered.
  if (turns.length === 0 && first > 0 && system.length > 0) turns.push(userSays(system.pop() as string));
  if (turns[0]?.role !== 'user') turns.unshift(userSays(nudge));
  return { system, turns };
}

function turnsOf({ items, results, messages }: Round): Turn[] {
  const turns: Turn[] = [];
  if (items.length > 0) turns.push({ role: 'assistant', items });
  if (results.length > 0 || messages.length > 0) turns.push({ role: 'user', results, messages });
  return turns;
}

/** Ends the conversation with the user, for models that do not complete a turn of their own. */
export function endWithUser(turns: readonly Turn[]): Turn[] {
  return turns.at(-1)?.role === 'user' ? [...turns] : [...turns, userSays(nudge)];
}

export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

/** These providers refuse empty text, and a turn of nothing else would be missing where turns alternate. */
function saysNothing({ content }: MessageItem): boolean {
  return content.every((part) => part.type === 'text' && isBlank(part.text));
}

function userSays(text: string): UserTurn {
  const message: MessageItem = { type: 'message', role: 'user', content: [{ type: 'text', text }] };
  return { role: 'user', results: [], messages: [message] };
}

/** The text of a system or developer message that holds nothing but text. */
function systemText(item: Inference['items'][number] | undefined): string | undefined {
  if (item?.type !== 'message' || (item.role !== 'system' && item.role !== 'developer')) return undefined;
  const texts = item.content.map((part) => (part.type === 'text' ? part.text : undefined));
  return texts.includes(undefined) ? undefined : texts.join('\n');
}

/** What an assistant said in one go, the outputs of its calls, and what others said after it. */
export interface Round {
  items: (MessageItem | FunctionCallItem | ReasoningItem)[];
  /** In the order of the calls. */
  results: FunctionOutputItem[];
  messages: MessageItem[];
}

/**
 * Items as rounds, for formats in which nothing may stand between calls and their outputs: an output that comes late
 * moves to the round of its call. The first round has no assistant's items unless the conversation begins with them.
 * Opaque items are left out. Throws an UpstreamFailure of kind `caller` for an output without a call.
 */
export function roundsOf(items: Iterable<InputItem>): Round[] {
  const builder = new RoundBuilder();
  for (const item of items) {
    if (item.type === 'function_call_output') builder.addOutput(item);
    else if (item.type === 'message' && item.role !== 'assistant') builder.last().messages.push(item);
    else if (item.type !== 'opaque') builder.addAssistant(item);
  }
  for (const round of builder.rounds) round.results = inCallOrder(round);
  return builder.rounds;
}

class RoundBuilder {
  readonly rounds: Round[] = [{ items: [], results: [], messages: [] }];
  /** The round of each call that waits for its output. */
  readonly #open = new Map<string, Round>();

  addAssistant(item: Round['items'][number]): void {
    let round = this.last();
    if (round.results.length > 0 || round.messages.length > 0) {
      round = { items: [], results: [], messages: [] };
      this.rounds.push(round);
    }
    round.items.push(item);
    if (item.type === 'function_call') this.#open.set(item.callId, round);
  }

  addOutput(item: FunctionOutputItem): void {
    const round = this.#open.get(item.callId);
    if (!round) {
      throw new UpstreamFailure('caller', 'a function output has no call', {
        publicMessage: 'A function output has no function call with the same id before it.',
        code: 'invalid_request',
        param: 'input',
      });
    }
    this.#open.delete(item.callId);
    round.results.push(item);
  }

  last(): Round {
    return this.rounds.at(-1) as Round;
  }
}

function inCallOrder({ results, items }: Round): FunctionOutputItem[] {
  const places = new Map<string, number>();
  for (const item of items) {
    if (item.type === 'function_call' && !places.has(item.callId)) places.set(item.callId, places.size);
  }
  const place = ({ callId }: FunctionOutputItem) => places.get(callId) ?? -1;
  return [...results].sort((one, other) => place(one) - place(other));
}
