import { userFillerText } from '../../../shared/constants/filler-text.ts';
import { DistinctIds } from '../../../shared/formats/distinct-ids.ts';
import { parseArguments } from '../../../shared/json/json-text.ts';
import type {
  CacheMark,
  ContentPart,
  FunctionCallItem,
  FunctionOutputItem,
  Inference,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../features/upstreams/neutral.ts';
import { isObject, type Json, mapChanged, parseObject } from '../json.ts';
import { argumentsIn } from './call-arguments.ts';

export interface UserTurn {
  role: 'user';
  /** The outputs of all calls of the previous turn, in the order of the calls. They precede the messages. */
  results: FunctionOutputItem[];
  messages: MessageItem[];
}

export interface AssistantTurn {
  role: 'assistant';
  items: Round['items'];
}

export type Turn = UserTurn | AssistantTurn;

export interface SystemText extends CacheMark {
  text: string;
}

export interface Conversation {
  /** The instructions, then the leading system and developer messages. */
  system: SystemText[];
  turns: Turn[];
}

/**
 * Converts items to turns of alternating roles, for providers that insist on them: messages of one role are merged, and
 * each function output moves to the turn right after its call. Later system messages become the user's.
 */
export function conversationOf(inference: Inference): Conversation {
  const system: SystemText[] = isBlank(inference.instructions)
    ? []
    : [{ text: inference.instructions as string }];
  const { items } = inference;
  let first = 0;
  for (; first < items.length; first++) {
    const texts = systemTexts(items[first]);
    if (texts === undefined) break;
    for (const each of texts) if (!isBlank(each.text)) system.push(each);
  }
  const rest = items.slice(first).filter((item) => item.type !== 'message' || !isBlankMessage(item));
  const turns = roundsOf(rest).flatMap(turnsOf);
  // A conversation of system messages only: the last one is the prompt.
  if (turns.length === 0 && first > 0 && system.length > 0)
    turns.push(userTurn((system.pop() as SystemText).text));
  if (turns[0]?.role !== 'user') turns.unshift(userTurn(userFillerText));
  return { system, turns };
}

function turnsOf({ items, results, messages }: Round): Turn[] {
  const turns: Turn[] = [];
  if (items.length > 0) turns.push({ role: 'assistant', items });
  if (results.length > 0 || messages.length > 0) turns.push({ role: 'user', results, messages });
  return turns;
}

/** Ends the conversation with the user, for models that do not continue an assistant turn. */
export function endWithUser(turns: readonly Turn[]): Turn[] {
  return turns.at(-1)?.role === 'user' ? [...turns] : [...turns, userTurn(userFillerText)];
}

export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

/** A text part of a message that is blank: models write such parts, and servers with models of Anthropic refuse them. */
export function isBlankText(part: unknown): boolean {
  return isObject(part) && part.type === 'text' && typeof part.text === 'string' && isBlank(part.text);
}

/** These providers refuse empty text, and a turn of nothing else would break the alternation. */
function isBlankMessage({ content }: MessageItem): boolean {
  return content.every((part) => part.type === 'text' && isBlank(part.text));
}

function userTurn(text: string): UserTurn {
  const message: MessageItem = { type: 'message', role: 'user', content: [{ type: 'text', text }] };
  return { role: 'user', results: [], messages: [message] };
}

/** The text of a system or developer message that contains only text; more than one if only some of it is to be cached. */
function systemTexts(item: InputItem | undefined): SystemText[] | undefined {
  if (item?.type !== 'message' || (item.role !== 'system' && item.role !== 'developer')) return undefined;
  const texts: SystemText[] = [];
  for (const part of item.content) {
    if (part.type !== 'text') return undefined;
    const last = texts.at(-1);
    if (last === undefined || last.cacheControl) texts.push({ text: part.text });
    else last.text += `\n${part.text}`;
    if (part.cacheControl) (texts.at(-1) as SystemText).cacheControl = part.cacheControl;
  }
  const last = texts.at(-1);
  if (last !== undefined && item.cacheControl) last.cacheControl = item.cacheControl;
  return texts;
}

/** The items of one assistant turn, the outputs of its calls, and the messages that follow. */
export interface Round {
  items: (MessageItem | FunctionCallItem | ReasoningItem)[];
  /** In the order of the calls. */
  results: FunctionOutputItem[];
  messages: MessageItem[];
}

/**
 * Groups items into rounds, for formats that allow nothing between calls and their outputs: a late output moves to the
 * round of its call. The first round has no assistant items unless the conversation starts with them. Opaque items are
 * dropped. A call without an output gets one that says so, and an output without a call becomes a message.
 */
export function roundsOf(items: readonly InputItem[]): Round[] {
  const builder = new RoundBuilder();
  for (const item of withDistinctIds(items)) {
    if (item.type === 'function_call_output') builder.addOutput(item);
    else if (item.type === 'message' && item.role !== 'assistant') builder.last().messages.push(item);
    else if (item.type !== 'opaque') builder.addAssistant(item);
  }
  builder.end();
  for (const round of builder.rounds) round.results = inCallOrder(round);
  return builder.rounds;
}

/**
 * Items of which each call has its output, and each output its call, as providers demand: clients shorten conversations in between,
 * and interrupt tools. Source: AstrBotDevs/AstrBot#8349, letta-ai/letta#3308.
 */
export function pairedItems(given: readonly InputItem[]): InputItem[] {
  const items = withDistinctIds(given);
  const answered = new Set(
    items.flatMap((item) => (item.type === 'function_call_output' ? item.callId : [])),
  );
  const called = new Set<string>();
  return items.flatMap((item): InputItem[] => {
    if (item.type === 'function_call_output') return called.has(item.callId) ? [item] : [strayOutput(item)];
    if (item.type !== 'function_call') return [item];
    called.add(item.callId);
    return answered.has(item.callId)
      ? [item]
      : [item, { ...missingOutput(item.callId), ...(item.custom && { custom: true }) }];
  });
}

/**
 * Items whose pictures and files of the model are in a message of the user: of the three formats none has them in one of the assistant,
 * and models are asked about them. The same list if there are none. Source: decolua/9router#3864.
 */
export function withShownFiles(items: InputItem[]): InputItem[] {
  const isText = ({ type }: ContentPart) => type === 'text' || type === 'refusal';
  const hasFiles = (item: InputItem): item is MessageItem =>
    item.type === 'message' && item.role === 'assistant' && !item.content.every(isText);
  if (!items.some(hasFiles)) return items;
  return items.flatMap((item): InputItem[] => {
    if (!hasFiles(item)) return [item];
    const files = item.content.filter((part) => !isText(part));
    const shown: MessageItem = {
      type: 'message',
      role: 'user',
      content: [{ type: 'text', text: shownText }, ...files],
    };
    const texts = item.content.filter(isText);
    return texts.length > 0 ? [{ ...item, content: texts }, shown] : [shown];
  });
}

const shownText = 'Shown by the assistant:';

/** The same list if each call has an id of its own. */
function withDistinctIds(items: readonly InputItem[]): readonly InputItem[] {
  if (!items.some(({ type }) => type === 'function_call' || type === 'function_call_output')) return items;
  const ids = new DistinctIds();
  return mapChanged(items, (item) => {
    if (item.type === 'message' && item.role !== 'assistant') ids.endTurn();
    if (item.type !== 'function_call' && item.type !== 'function_call_output') return item;
    const callId = item.type === 'function_call' ? ids.ofCall(item.callId) : ids.ofOutput(item.callId);
    return callId === item.callId ? item : { ...item, callId };
  });
}

function missingOutput(callId: string): FunctionOutputItem {
  const text = 'The call was interrupted and has no output.';
  return { type: 'function_call_output', callId, output: [{ type: 'text', text }], isError: true };
}

function strayOutput({ output }: FunctionOutputItem): MessageItem {
  return { type: 'message', role: 'user', content: [{ type: 'text', text: 'Output of a tool:' }, ...output] };
}

class RoundBuilder {
  readonly rounds: Round[] = [{ items: [], results: [], messages: [] }];
  /** The round of each call that has no output yet. */
  readonly #openCalls = new Map<string, Round>();

  addAssistant(item: Round['items'][number]): void {
    let round = this.last();
    if (round.results.length > 0 || round.messages.length > 0) {
      round = { items: [], results: [], messages: [] };
      this.rounds.push(round);
    }
    round.items.push(item);
    if (item.type === 'function_call') this.#openCalls.set(item.callId, round);
  }

  addOutput(item: FunctionOutputItem): void {
    const round = this.#openCalls.get(item.callId);
    this.#openCalls.delete(item.callId);
    if (round) round.results.push(item);
    else this.last().messages.push(strayOutput(item));
  }

  end(): void {
    for (const [callId, round] of this.#openCalls) round.results.push(missingOutput(callId));
  }

  last(): Round {
    return this.rounds.at(-1) as Round;
  }
}

function inCallOrder({ results, items }: Round): FunctionOutputItem[] {
  const positions = new Map<string, number>();
  for (const item of items) {
    if (item.type === 'function_call' && !positions.has(item.callId))
      positions.set(item.callId, positions.size);
  }
  const position = ({ callId }: FunctionOutputItem) => positions.get(callId) ?? -1;
  return results.toSorted((a, b) => position(a) - position(b));
}

/** The output of a call, marked as an error in its text where a format has no other way. */
export function markedOutput({ output, isError }: FunctionOutputItem): ContentPart[] {
  if (!isError) return output;
  const [first, ...others] = output;
  if (first?.type !== 'text') return [{ type: 'text', text: 'Error' }, ...output];
  return /^\W*error/i.test(first.text) ? output : [{ ...first, text: `Error: ${first.text}` }, ...others];
}

/** The arguments of a call as an object, for providers that do not accept text. */
export function argumentsObject(text: string): Json {
  const read = argumentsIn(text);
  return read === undefined ? { value: text } : (parseArguments(read) as Json);
}

/**
 * The arguments of a call in the history as the text of an object: servers parse them, and one call that was cut would have every later
 * request refused. Source: ggml-org/llama.cpp#25510, local-inference-lab/vllm#684.
 */
export function readableArguments(text: string): string {
  return parseObject(text) === undefined ? JSON.stringify(argumentsObject(text)) : text;
}
