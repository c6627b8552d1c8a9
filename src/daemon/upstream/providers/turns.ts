import type { FunctionOutputItem, Inference, MessageItem } from '../../features/inference/neutral.ts';
import { type Round, roundsOf } from './rounds.ts';

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
