import type { Tokens } from '../../../../shared/money.ts';
import type {
  Batch,
  FinishReason,
  InferenceEvent,
  StartedItem,
} from '../../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import type { Decoder } from '../../adapter.ts';
import { countOf, type Json, objectOf, textOf } from '../../json.ts';
import { type Dialect, SseJsonDecoder } from '../../sse-decoder.ts';
import { CallIds } from '../call-ids.ts';
import { namelessCall } from '../provider-failures.ts';
import { streamFailure } from './failure.ts';

/** A content block that has begun: the output item it belongs to, and what it needs when it ends. */
type Block =
  | { kind: 'text'; index: number }
  | { kind: 'thinking'; index: number; thinking: string; signature: string | undefined }
  | { kind: 'redacted'; index: number; data: string }
  | { kind: 'tool'; index: number; input: Json; hasArguments: boolean };

/** The events of a Messages stream → neutral events. `origin` marks thoughts as this provider's and model's. */
export function messagesDecoder(origin: { provider: string; model: string }): Decoder {
  return new SseJsonDecoder(origin.provider, new MessagesDialect(origin), { hasFrames: false });
}

class MessagesDialect implements Dialect {
  isComplete = false;
  readonly #origin: { provider: string; model: string };
  readonly #blocks = new Map<unknown, Block>();
  readonly #callIds = new CallIds();
  #items = 0;
  /** The message that further text blocks continue, until something else begins. */
  #message: number | undefined;
  /** Counts so far: each event that tells usage replaces what it tells, and says nothing of the rest. */
  #usage: Json = {};
  /** What was read, until it is told. */
  #prompt: ReturnType<typeof promptOf> | undefined;
  #stopReason: string | undefined;
  /** Whether anything came after the stop reason. */
  #goesOn = false;
  #refusal: string | undefined;

  constructor(origin: { provider: string; model: string }) {
    this.#origin = origin;
  }

  get hasFinished(): boolean {
    return this.#stopReason !== undefined && !this.#goesOn;
  }

  take(event: Json, _raw: string, { events: into }: Batch): void {
    const { length } = into;
    const hadStopped = this.#stopReason !== undefined;
    this.#take(event, into);
    if (hadStopped && into.length > length) this.#goesOn = true;
    if (this.#prompt === undefined || into.length === 0) return;
    into.push({ type: 'prompt-counted', tokens: this.#prompt });
    this.#prompt = undefined;
  }

  #take(event: Json, into: InferenceEvent[]): void {
    switch (event.type) {
      case 'message_start':
        // Its count of output is no count of what the caller will have got; that of input is handed out with the first
        // block, as the call may still fail until then.
        this.#countUsage(objectOf(event.message)?.usage);
        this.#prompt = promptOf(this.#usage);
        break;
      case 'content_block_start':
        this.#start(event.index, objectOf(event.content_block) ?? {}, into);
        break;
      case 'content_block_delta':
        this.#add(event.index, objectOf(event.delta) ?? {}, into);
        break;
      case 'content_block_stop':
        this.#stop(event.index, into);
        break;
      case 'message_delta':
        this.#end(event, into);
        break;
      case 'message_stop':
        this.#close(into);
        break;
      default:
        if (event.error !== undefined) throw streamFailure(this.#origin.provider, event);
    }
  }

  /** Nothing of an answer comes after its stop reason: one that lacks message_stop alone is whole. */
  finish({ events: into }: Batch): void {
    if (this.#stopReason === undefined) {
      throw new UpstreamFailure('broken', `${this.#origin.provider} closed the stream before message_stop`);
    }
    this.#close(into);
  }

  #start(key: unknown, block: Json, into: InferenceEvent[]): void {
    if (block.type === 'text') {
      if (this.#message === undefined) {
        this.#message = this.#items++;
        into.push({ type: 'item-started', index: this.#message, item: { kind: 'message' } });
      }
      this.#blocks.set(key, { kind: 'text', index: this.#message });
      this.#addText(this.#message, textOf(block.text), into);
      return;
    }
    if (block.type === 'thinking') {
      const index = this.#begin({ kind: 'reasoning' }, into);
      const signature = textOf(block.signature) || undefined;
      const opened: Block = { kind: 'thinking', index, thinking: '', signature };
      this.#blocks.set(key, opened);
      this.#addThought(opened, textOf(block.thinking), into);
    } else if (block.type === 'redacted_thinking') {
      const index = this.#begin({ kind: 'reasoning' }, into);
      this.#blocks.set(key, { kind: 'redacted', index, data: textOf(block.data) ?? '' });
    } else if (block.type === 'tool_use') {
      // Not every server behind this format gives its calls ids, or each its own.
      const callId = this.#callIds.own(block.id);
      const name = textOf(block.name);
      if (!name) throw namelessCall(this.#origin.provider);
      const index = this.#begin({ kind: 'function_call', callId, name }, into);
      // Input that is here already counts only if no pieces of it follow.
      this.#blocks.set(key, { kind: 'tool', index, input: objectOf(block.input) ?? {}, hasArguments: false });
    }
    // Blocks of the provider's own tools, which were not asked for, have no neutral form.
  }

  #begin(item: StartedItem, into: InferenceEvent[]): number {
    this.#endMessage(into);
    const index = this.#items++;
    into.push({ type: 'item-started', index, item });
    return index;
  }

  #add(key: unknown, delta: Json, into: InferenceEvent[]): void {
    // Some servers do not announce text, which must not be lost for that.
    if (delta.type === 'text_delta' && !this.#blocks.has(key)) this.#start(key, { type: 'text' }, into);
    const block = this.#blocks.get(key);
    if (block?.kind === 'text') this.#continue(key, block, textOf(delta.text), into);
    else if (block?.kind === 'thinking') {
      if (delta.type === 'signature_delta') block.signature = textOf(delta.signature);
      else this.#addThought(block, textOf(delta.thinking), into);
    } else if (block?.kind === 'tool') {
      const json = textOf(delta.partial_json);
      if (!json) return;
      block.hasArguments = true;
      into.push({ type: 'arguments', index: block.index, delta: json });
    }
  }

  /** Text goes on in a new message where something else has come between. */
  #continue(key: unknown, { index }: Block, text: string | undefined, into: InferenceEvent[]): void {
    if (index === this.#message) this.#addText(index, text, into);
    else this.#start(key, { type: 'text', text }, into);
  }

  #addText(index: number, text: string | undefined, into: InferenceEvent[]): void {
    if (text) into.push({ type: 'text', index, delta: text });
  }

  #addThought(
    block: Extract<Block, { kind: 'thinking' }>,
    text: string | undefined,
    into: InferenceEvent[],
  ): void {
    if (!text) return;
    block.thinking += text;
    into.push({ type: 'reasoning', index: block.index, part: 0, delta: text });
  }

  #stop(key: unknown, into: InferenceEvent[]): void {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    if (!block || block.kind === 'text') return;
    const { index } = block;
    if (block.kind === 'tool') {
      if (!block.hasArguments) into.push({ type: 'arguments', index, delta: JSON.stringify(block.input) });
      into.push({ type: 'item-done', index });
      return;
    }
    const { thinking, signature } = block.kind === 'thinking' ? block : {};
    const payload = block.kind === 'redacted' ? { data: block.data } : { thinking, signature };
    // Thoughts that are not signed would be refused when they came back.
    const isWanted = block.kind === 'redacted' || signature !== undefined;
    into.push({ type: 'item-done', index, ...(isWanted && { origin: { ...this.#origin, payload } }) });
  }

  #endMessage(into: InferenceEvent[]): void {
    if (this.#message !== undefined) into.push({ type: 'item-done', index: this.#message });
    this.#message = undefined;
  }

  #end(event: Json, into: InferenceEvent[]): void {
    const delta = objectOf(event.delta);
    this.#stopReason = textOf(delta?.stop_reason) ?? this.#stopReason;
    this.#refusal = textOf(objectOf(delta?.stop_details)?.explanation) ?? this.#refusal;
    this.#countUsage(event.usage);
    // Without it, all that is known is the count at the start, which is none of the answer.
    if (countOf(objectOf(event.usage)?.output_tokens) !== undefined)
      into.push({ type: 'usage', tokens: tokensOf(this.#usage) });
  }

  #close(into: InferenceEvent[]): void {
    this.isComplete = true;
    for (const key of [...this.#blocks.keys()]) this.#stop(key, into);
    const reason = finishReason(this.#stopReason);
    if (reason === 'content_filter' && this.#refusal) {
      const index = this.#begin({ kind: 'message' }, into);
      into.push({ type: 'refusal', index, delta: this.#refusal }, { type: 'item-done', index });
    } else this.#endMessage(into);
    into.push({ type: 'finished', reason });
  }

  #countUsage(usage: unknown): void {
    for (const [name, value] of Object.entries(objectOf(usage) ?? {})) {
      if (value !== null) this.#usage[name] = value;
    }
  }
}

/** `input_tokens` leaves out what was read from or written to the cache; the neutral count holds all three. */
function promptOf(usage: Json): Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> {
  const cachedInput = countOf(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite = countOf(usage.cache_creation_input_tokens) ?? 0;
  return { input: (countOf(usage.input_tokens) ?? 0) + cachedInput + cacheWrite, cachedInput, cacheWrite };
}

function tokensOf(usage: Json): Tokens {
  return {
    ...promptOf(usage),
    output: countOf(usage.output_tokens) ?? 0,
    reasoning: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens) ?? 0,
  };
}

/** `pause_turn` comes with the provider's own tools alone; what was written until then is an answer. */
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
