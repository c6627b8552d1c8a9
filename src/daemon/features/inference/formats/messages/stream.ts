import { unsigned } from '../../../../../shared/constants/unsigned.ts';
import { messagePing } from '../../../../../shared/contract/messages.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseEvent } from '../../../../../shared/http/sse.ts';
import type { Tokens } from '../../../../../shared/money/money.ts';
import type { Output, Settled, StartedFailure, StreamRenderer } from '../../../calls/index.ts';
import type { Batch, InferenceEvent, StartedItem } from '../../../upstreams/neutral.ts';
import { citationOf } from './citations.ts';
import { PassedBlocks } from './passed-blocks.ts';
import {
  type DistinctId,
  emptyMessage,
  type MessageLabel,
  paragraphGap,
  redactedBlock,
  showMessageUsage,
  showStop,
  startedErrorType,
  textBlock,
  toolBlock,
} from './render.ts';

export interface MessagesStreamOptions extends MessageLabel {
  output: Output;
  requestId: string;
  /** The token counts so far. */
  tokens: () => Tokens;
  /** Whether the caller asked for thoughts. */
  showsThoughts: boolean;
  distinctId: DistinctId;
}

const stopEvent = sseEvent('{"type":"message_stop"}', 'message_stop');

/** The end of a stream that failed, whether or not its answer had started. */
export function failedEvents(failure: StartedFailure, requestId: string): string {
  const error = { type: startedErrorType(failure), message: failure.message };
  return show({ type: 'error', error, request_id: requestId });
}

/**
 * Renders a stream of the Messages format, and nothing else. Frames of a provider with the same format are passed on with
 * our id and model in the first one; its `message_stop` waits for the settlement.
 */
export class MessagesStream implements StreamRenderer {
  readonly #options: MessagesStreamOptions;
  readonly #blocks: BlockWriter;
  #hasStarted = false;
  /** Set when the provider's frames are passed on. */
  #passed: PassedBlocks | undefined;

  constructor(options: MessagesStreamOptions) {
    this.#options = options;
    this.#blocks = new BlockWriter(options);
  }

  head(): string {
    // A provider's own frames include a first event; ours is rendered with the first batch.
    return '';
  }

  batch({ events, frames }: Batch): string {
    const { output } = this.#options;
    if (frames !== undefined) {
      for (const event of events) output.apply(event);
      this.#passed ??= new PassedBlocks({
        start: () => this.#start(),
        labelled: (event) => this.#labelled(event),
        completed: (event) => this.#completed(event),
        sealed: (position) => sealedThought(output, position),
      });
      return this.#passed.pass(frames);
    }
    let text = '';
    for (const event of events) {
      output.apply(event);
      text += this.#blocks.write(event);
    }
    return text === '' ? '' : this.#start() + text;
  }

  finish({ finish, tokens }: Settled): string {
    const { output } = this.#options;
    // An answer that we cut has open blocks, and no end from its provider.
    const head = this.#passed ? this.#passed.close() : this.#start() + this.#blocks.close();
    if (this.#passed?.hasEnd) return head + stopEvent;
    const delta = { ...showStop(output, finish), container: null };
    return head + show({ type: 'message_delta', delta, usage: showMessageUsage(tokens) }) + stopEvent;
  }

  fail(failure: StartedFailure): string {
    return failedEvents(failure, this.#options.requestId);
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return show({ type: 'message_start', message: this.#empty() }) + messagePing;
  }

  #labelled(json: Json): Json {
    const { id, model } = this.#options;
    const message = isObject(json.message) ? json.message : undefined;
    const empty = this.#empty();
    const content = Array.isArray(message?.content) ? {} : { content: [] };
    const usage = isObject(message?.usage) ? {} : { usage: empty.usage };
    return { ...json, message: { ...(message ?? empty), ...content, ...usage, id, model } };
  }

  #completed(json: Json): Json {
    const { output, tokens } = this.#options;
    const delta = isObject(json.delta) ? json.delta : { ...showStop(output, 'stop'), container: null };
    return { ...json, delta, usage: isObject(json.usage) ? json.usage : showMessageUsage(tokens()) };
  }

  #empty(): Json {
    return emptyMessage(this.#options, { ...this.#options.tokens(), output: 0 });
  }
}

function sealedThought({ items }: Output, position: number): string | undefined {
  return items.filter((item) => item.kind === 'reasoning')[position]?.sealed;
}

/** An event of one item. */
type ItemEvent = Extract<InferenceEvent, { index: number }>;

function show(json: Json & { type: string }): string {
  return sseEvent(JSON.stringify(json), json.type);
}

/**
 * Writes items as content blocks. Blocks follow one another here, while several items may be open at a time: events of an
 * item that cannot be written yet wait until the open block ends.
 */
class BlockWriter {
  readonly #output: Output;
  readonly #showsThoughts: boolean;
  readonly #distinctId: DistinctId;
  #nextBlock = 0;
  /** The item whose block is open. */
  #open: { index: number; kind: StartedItem['kind'] } | undefined;
  /** Events of other items, by item in the order of their first event. */
  readonly #waiting = new Map<number, ItemEvent[]>();
  /** White space in front of a text whose block has not started. */
  #blank = '';
  /** The current paragraph of the open thoughts. */
  #paragraph = 0;
  /**
   * Sealed thoughts without a text, until a block follows: a call, or anything if the caller asked for thoughts. At the end
   * of an answer they would be taken for the answer itself.
   */
  #sealed: string[] = [];
  #hasCalls = false;
  /** Whether the open call has arguments yet. */
  #hasArguments = false;

  constructor({
    output,
    showsThoughts,
    distinctId,
  }: Pick<MessagesStreamOptions, 'output' | 'showsThoughts' | 'distinctId'>) {
    this.#output = output;
    this.#showsThoughts = showsThoughts;
    this.#distinctId = distinctId;
  }

  write(event: InferenceEvent): string {
    if (!('index' in event)) return '';
    const { index } = event;
    if (this.#isBlocked(index)) {
      const waiting = this.#waiting.get(index);
      if (waiting) waiting.push(event);
      else this.#waiting.set(index, [event]);
      return '';
    }
    const text = this.#writeItem(event);
    return this.#waiting.size > 0 ? text + this.#writeWaiting() : text;
  }

  /** Ends all blocks. */
  close(): string {
    let text = this.#end();
    while (this.#waiting.size > 0) text += this.#writeWaiting() + this.#end();
    const isEmpty = this.#showsThoughts && this.#nextBlock === 0;
    return this.#hasCalls || isEmpty ? text + this.#writeSealed() : text;
  }

  /** Text can go on in another block later, so it does not hold up what follows. */
  #isBlocked(index: number): boolean {
    return this.#open !== undefined && this.#open.index !== index && this.#open.kind !== 'message';
  }

  /** Writes what has waited longest, up to the first item that is still open. */
  #writeWaiting(): string {
    let text = '';
    for (const [index, events] of this.#waiting) {
      if (this.#isBlocked(index)) break;
      this.#waiting.delete(index);
      for (const event of events) text += this.#writeItem(event);
    }
    return text;
  }

  #writeItem(event: ItemEvent): string {
    const isOther = this.#open !== undefined && this.#open.index !== event.index;
    return (isOther ? this.#endBlock() : '') + this.#writeNow(event);
  }

  #writeNow(event: ItemEvent): string {
    switch (event.type) {
      case 'item-started':
        return event.item.kind === 'function_call' ? this.#startCall(event.index, event.item) : '';
      case 'text':
      case 'refusal':
        return this.#writeText(event.index, event.delta);
      case 'annotation': {
        const citation = this.#open?.kind === 'message' ? citationOf(event.annotation) : undefined;
        return citation ? this.#delta({ type: 'citations_delta', citation }) : '';
      }
      case 'reasoning':
        return this.#showsThoughts && event.delta !== '' ? this.#thought(event) : '';
      case 'arguments':
        return this.#delta({ type: 'input_json_delta', partial_json: event.delta });
      case 'item-done':
        return this.#endItem(event.index);
      default:
        return '';
    }
  }

  /** Starts a block with the first text that is not blank: the format refuses blank text when it is sent back. */
  #writeText(index: number, delta: string): string {
    if (this.#open) return delta === '' ? '' : this.#delta({ type: 'text_delta', text: delta });
    const text = this.#blank + delta;
    if (text.trim() === '') {
      this.#blank = text;
      return '';
    }
    return (
      this.#writeShownSealed() +
      this.#startBlock(index, 'message', textBlock('')) +
      this.#delta({ type: 'text_delta', text })
    );
  }

  #startCall(index: number, item: Extract<StartedItem, { kind: 'function_call' }>): string {
    this.#hasCalls = true;
    const { callId, name } = item;
    const block = toolBlock({ id: this.#distinctId(callId), name }, {});
    return this.#writeSealed() + this.#startBlock(index, 'function_call', block);
  }

  #writeShownSealed(): string {
    return this.#showsThoughts ? this.#writeSealed() : '';
  }

  #writeSealed(): string {
    const blocks = this.#sealed.map((sealed) => this.#wholeBlock(redactedBlock(sealed)));
    this.#sealed = [];
    return blocks.join('');
  }

  #thought({ index, part, delta }: Extract<InferenceEvent, { type: 'reasoning' }>): string {
    const block = { type: 'thinking', thinking: '', signature: '' };
    const start = this.#open ? '' : this.#writeShownSealed() + this.#startBlock(index, 'reasoning', block);
    if (start !== '') this.#paragraph = part;
    const gap = part > this.#paragraph ? paragraphGap : '';
    this.#paragraph = part;
    return start + this.#delta({ type: 'thinking_delta', thinking: gap + delta });
  }

  #endItem(index: number): string {
    const item = this.#output.items[index];
    const sealed = item?.kind === 'reasoning' ? item.sealed : undefined;
    if (this.#open === undefined) {
      if (sealed !== undefined) this.#sealed.push(sealed);
      return '';
    }
    let last = '';
    if (item?.kind === 'reasoning')
      last = this.#delta({ type: 'signature_delta', signature: sealed ?? unsigned });
    else if (item?.kind === 'function_call' && !this.#hasArguments)
      last = this.#delta({ type: 'input_json_delta', partial_json: item.arguments });
    return last + this.#endBlock();
  }

  #startBlock(index: number, kind: StartedItem['kind'], block: Json): string {
    this.#open = { index, kind };
    this.#blank = '';
    this.#hasArguments = false;
    return show({ type: 'content_block_start', index: this.#nextBlock, content_block: block });
  }

  #delta(delta: Json & { type: string }): string {
    if (delta.type === 'input_json_delta') this.#hasArguments = true;
    return show({ type: 'content_block_delta', index: this.#nextBlock, delta });
  }

  #end(): string {
    return this.#open === undefined ? '' : this.#endBlock();
  }

  #endBlock(): string {
    this.#open = undefined;
    const stop = show({ type: 'content_block_stop', index: this.#nextBlock });
    this.#nextBlock += 1;
    return stop;
  }

  #wholeBlock(block: Json): string {
    const start = show({ type: 'content_block_start', index: this.#nextBlock, content_block: block });
    return start + this.#endBlock();
  }
}
