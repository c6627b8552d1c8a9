import type { Tokens } from '../../../../shared/money.ts';
import type {
  Batch,
  FinishReason,
  InferenceEvent,
  RawFrame,
  StartedItem,
} from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import type { Decoder } from '../../adapter.ts';
import { areCounts, countOf, type Json, objectOf, objectsOf, textOf } from '../../json.ts';
import { type Dialect, SseJsonDecoder } from '../../sse-decoder.ts';
import { CallIds } from '../call-ids.ts';
import { unnamedCall } from '../provider-failures.ts';
import { anthropicStreamFailure } from './failure.ts';

/** An open content block: the output item it belongs to, and what is needed when it ends. */
type Block =
  | { kind: 'text'; index: number }
  | { kind: 'thinking'; index: number; thinking: string; signature: string | undefined }
  | { kind: 'redacted'; index: number; data: string }
  | { kind: 'tool'; index: number; input: Json; hasArguments: boolean };

/** The provider and model, which mark reasoning as their own. */
interface Origin {
  provider: string;
  model: string;
}

/** Decodes a Messages stream. `hasFrames`: whether the caller speaks the format, so that events can be relayed. */
export function messagesDecoder(origin: Origin, { hasFrames }: { hasFrames: boolean }): Decoder {
  return new SseJsonDecoder(origin.provider, new MessagesDialect(origin), { hasFrames });
}

/** Reads usage and outcome of a whole message. Throws an UpstreamFailure if it is something else. */
export function readMessage(
  json: Json,
  provider: string,
): { tokens: Tokens | undefined; finish: FinishReason } {
  if (!Array.isArray(json.content))
    throw new UpstreamFailure('broken', `${provider} answered without content`);
  const usage = objectOf(json.usage);
  return { tokens: usage && reportedTokens(usage), finish: finishReason(textOf(json.stop_reason)) };
}

/** Converts a whole message to the batch that a stream would give. */
export function messageAsBatch(json: Json, origin: Origin, { hasFrames }: { hasFrames: boolean }): Batch {
  readMessage(json, origin.provider);
  const batch: Batch = { events: [], frames: hasFrames ? [] : undefined };
  const dialect = new MessagesDialect(origin);
  for (const event of eventsOf(json)) dialect.take(event, JSON.stringify(event), batch);
  return batch;
}

/** The events by which a stream sends a message. */
function* eventsOf(message: Json): Generator<Json> {
  const { content, stop_reason, stop_sequence, stop_details, container, usage } = message;
  yield {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, stop_sequence: null },
  };
  for (const [index, block] of objectsOf(content).entries()) {
    const { empty, deltas } = blockParts(block);
    yield { type: 'content_block_start', index, content_block: empty };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details, container }, usage };
  yield { type: 'message_stop' };
}

/** A block as a stream starts it, and what follows. */
function blockParts(block: Json): { empty: Json; deltas: Json[] } {
  switch (block.type) {
    case 'text':
      return { empty: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }] };
    case 'thinking': {
      const { thinking, signature } = block;
      const empty = { ...block, thinking: '', signature: '' };
      return {
        empty,
        deltas: [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      };
    }
    case 'tool_use': {
      const json = JSON.stringify(block.input ?? {});
      return { empty: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] };
    }
    default:
      return { empty: block, deltas: [] };
  }
}

class MessagesDialect implements Dialect {
  isComplete = false;
  readonly #origin: Origin;
  readonly #blocks = new Map<unknown, Block>();
  readonly #callIds = new CallIds();
  #items = 0;
  /** The message that further text blocks continue, until another item starts. */
  #message: number | undefined;
  /** Counts so far: each event with usage replaces only the counts it contains. */
  #usage: Json = {};
  /** The prompt's token counts, until they are emitted. */
  #prompt: ReturnType<typeof promptOf> | undefined;
  #stopReason: string | undefined;
  /** Whether content came after the stop reason. */
  #hasLateContent = false;
  #stopSequence: string | undefined;
  #refusal: string | undefined;
  /** Frames before the first block: until then, another provider can still answer. */
  #held: RawFrame[] | undefined = [];

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get hasFinished(): boolean {
    return this.#stopReason !== undefined && !this.#hasLateContent;
  }

  take(event: Json, raw: string, { events, frames }: Batch): void {
    const { length } = events;
    const wasStopped = this.#stopReason !== undefined;
    this.#take(event, events);
    if (wasStopped && events.length > length) this.#hasLateContent = true;
    if (frames !== undefined) this.#relay({ raw, json: event }, frames);
    if (this.#prompt === undefined || events.length === 0) return;
    events.push({ type: 'prompt-counted', tokens: this.#prompt });
    this.#prompt = undefined;
  }

  #relay(frame: RawFrame, frames: RawFrame[]): void {
    if (this.#held !== undefined) {
      const { type } = frame.json;
      if (type !== 'content_block_start' && type !== 'content_block_delta' && type !== 'message_delta') {
        this.#held.push(frame);
        return;
      }
      frames.push(...this.#held);
      this.#held = undefined;
    }
    frames.push(frame);
  }

  #take(event: Json, events: InferenceEvent[]): void {
    switch (event.type) {
      case 'message_start':
        // Its output count is not final. Its input count is emitted with the first block, since the call may still fail
        // until then.
        this.#countUsage(objectOf(event.message)?.usage);
        this.#prompt = promptOf(this.#usage);
        break;
      case 'content_block_start':
        this.#startBlock(event.index, objectOf(event.content_block) ?? {}, events);
        break;
      case 'content_block_delta':
        this.#addDelta(event.index, objectOf(event.delta) ?? {}, events);
        break;
      case 'content_block_stop':
        this.#endBlock(event.index, events);
        break;
      case 'message_delta':
        this.#endAnswer(event, events);
        break;
      case 'message_stop':
        this.#close(events);
        break;
      default:
        if (event.type === 'error' || event.error !== undefined)
          throw anthropicStreamFailure(this.#origin.provider, event);
    }
  }

  /** An answer with a stop reason is complete even without message_stop. */
  finish({ events }: Batch): void {
    if (this.#stopReason === undefined) {
      throw new UpstreamFailure('broken', `${this.#origin.provider} closed the stream before message_stop`);
    }
    this.#close(events);
  }

  #startBlock(key: unknown, block: Json, events: InferenceEvent[]): void {
    if (block.type === 'text') {
      if (this.#message === undefined) {
        this.#message = this.#items++;
        events.push({ type: 'item-started', index: this.#message, item: { kind: 'message' } });
      }
      this.#blocks.set(key, { kind: 'text', index: this.#message });
      this.#addText(this.#message, textOf(block.text), events);
      return;
    }
    if (block.type === 'thinking') {
      const index = this.#startItem({ kind: 'reasoning' }, events);
      const signature = textOf(block.signature) || undefined;
      const opened: Block = { kind: 'thinking', index, thinking: '', signature };
      this.#blocks.set(key, opened);
      this.#addThought(opened, textOf(block.thinking), events);
    } else if (block.type === 'redacted_thinking') {
      const index = this.#startItem({ kind: 'reasoning' }, events);
      this.#blocks.set(key, { kind: 'redacted', index, data: textOf(block.data) ?? '' });
    } else if (block.type === 'tool_use') {
      // Some servers with this format send no ids, or the same one twice.
      const callId = this.#callIds.unique(block.id);
      const name = textOf(block.name);
      if (!name) throw unnamedCall(this.#origin.provider);
      const index = this.#startItem({ kind: 'function_call', callId, name }, events);
      // This input is used only if no deltas follow.
      this.#blocks.set(key, { kind: 'tool', index, input: objectOf(block.input) ?? {}, hasArguments: false });
    }
    // Blocks of server tools, which only callers of this format request, have no neutral form.
  }

  #startItem(item: StartedItem, events: InferenceEvent[]): number {
    this.#endMessage(events);
    const index = this.#items++;
    events.push({ type: 'item-started', index, item });
    return index;
  }

  #addDelta(key: unknown, delta: Json, events: InferenceEvent[]): void {
    // Some servers send text without starting a block.
    if (delta.type === 'text_delta' && !this.#blocks.has(key))
      this.#startBlock(key, { type: 'text' }, events);
    const block = this.#blocks.get(key);
    if (block?.kind === 'text') this.#continueText(key, block, textOf(delta.text), events);
    else if (block?.kind === 'thinking') {
      if (delta.type === 'signature_delta') block.signature = textOf(delta.signature);
      else this.#addThought(block, textOf(delta.thinking), events);
    } else if (block?.kind === 'tool') {
      const json = textOf(delta.partial_json);
      if (!json) return;
      block.hasArguments = true;
      events.push({ type: 'arguments', index: block.index, delta: json });
    }
  }

  /** Text after another item continues in a new message. */
  #continueText(key: unknown, { index }: Block, text: string | undefined, events: InferenceEvent[]): void {
    if (index === this.#message) this.#addText(index, text, events);
    else this.#startBlock(key, { type: 'text', text }, events);
  }

  #addText(index: number, text: string | undefined, events: InferenceEvent[]): void {
    if (text) events.push({ type: 'text', index, delta: text });
  }

  #addThought(
    block: Extract<Block, { kind: 'thinking' }>,
    text: string | undefined,
    events: InferenceEvent[],
  ): void {
    if (!text) return;
    block.thinking += text;
    events.push({ type: 'reasoning', index: block.index, part: 0, delta: text });
  }

  #endBlock(key: unknown, events: InferenceEvent[]): void {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    if (!block || block.kind === 'text') return;
    const { index } = block;
    if (block.kind === 'tool') {
      if (!block.hasArguments) events.push({ type: 'arguments', index, delta: JSON.stringify(block.input) });
      events.push({ type: 'item-done', index });
      return;
    }
    const { thinking, signature } = block.kind === 'thinking' ? block : {};
    const payload = block.kind === 'redacted' ? { data: block.data } : { thinking, signature };
    // Unsigned thoughts would be refused when sent back.
    const isReplayable = block.kind === 'redacted' || signature !== undefined;
    events.push({ type: 'item-done', index, ...(isReplayable && { origin: { ...this.#origin, payload } }) });
  }

  #endMessage(events: InferenceEvent[]): void {
    if (this.#message !== undefined) events.push({ type: 'item-done', index: this.#message });
    this.#message = undefined;
  }

  #endAnswer(event: Json, events: InferenceEvent[]): void {
    const delta = objectOf(event.delta);
    this.#stopReason = textOf(delta?.stop_reason) ?? this.#stopReason;
    this.#stopSequence = textOf(delta?.stop_sequence) ?? this.#stopSequence;
    this.#refusal = textOf(objectOf(delta?.stop_details)?.explanation) ?? this.#refusal;
    this.#countUsage(event.usage);
    // Otherwise only the count at the start is known, which is not the answer's.
    if (countOf(objectOf(event.usage)?.output_tokens) === undefined) return;
    const tokens = reportedTokens(this.#usage);
    if (tokens) events.push({ type: 'usage', tokens });
  }

  #close(events: InferenceEvent[]): void {
    this.isComplete = true;
    for (const key of [...this.#blocks.keys()]) this.#endBlock(key, events);
    const reason = finishReason(this.#stopReason);
    if (reason === 'content_filter' && this.#refusal) {
      const index = this.#startItem({ kind: 'message' }, events);
      events.push({ type: 'refusal', index, delta: this.#refusal }, { type: 'item-done', index });
    } else this.#endMessage(events);
    const stopSequence = this.#stopSequence;
    events.push({ type: 'finished', reason, ...(stopSequence !== undefined && { stopSequence }) });
  }

  #countUsage(usage: unknown): void {
    for (const [name, value] of Object.entries(objectOf(usage) ?? {})) {
      if (value !== null) this.#usage[name] = value;
    }
  }
}

/** `input_tokens` excludes tokens read from or written to the cache; the neutral count includes them. */
function promptOf(usage: Json): Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> {
  const cachedInput = countOf(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite = countOf(usage.cache_creation_input_tokens) ?? 0;
  return { input: (countOf(usage.input_tokens) ?? 0) + cachedInput + cacheWrite, cachedInput, cacheWrite };
}

function reportedTokens(usage: Json): Tokens | undefined {
  if (!areCounts(usage.input_tokens, usage.output_tokens)) return undefined;
  const webSearch = countOf(objectOf(usage.server_tool_use)?.web_search_requests) ?? 0;
  const longCacheWrite = countOf(objectOf(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? 0;
  return {
    ...promptOf(usage),
    output: countOf(usage.output_tokens) ?? 0,
    reasoning: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens) ?? 0,
    ...(longCacheWrite > 0 && { longCacheWrite }),
    ...(webSearch > 0 && { toolUses: { webSearch, fileSearch: 0 } }),
  };
}

/** `pause_turn` only occurs with server tools; the content so far is treated as the answer. */
function finishReason(stopReason: string | undefined): FinishReason {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_output_tokens';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}
