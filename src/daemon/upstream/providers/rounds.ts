import type {
  FunctionCallItem,
  FunctionOutputItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../features/inference/upstream.ts';

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
