import { SseTooLong } from '../../shared/http/sse.ts';
import type { KnownSecrets } from '../../shared/masking/known-secrets.ts';
import { type IncomingBody, NetworkFailure } from '../base/world.ts';
import type { Batch, InferenceEvent, RawFrame } from '../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../features/upstreams/upstream.ts';
import { whenLate } from '../runtime/when-late.ts';
import type { Decoder } from './adapter.ts';
import { isObject } from './json.ts';
import { maskFailure } from './mask-failure.ts';
import { midStreamFailureOf, upstreamFailureOf } from './network-failures.ts';

const done: IteratorResult<Batch> = { done: true, value: undefined };
const tailBytesMax = 64 * 1024;
/** How long to wait for the end of a stream after its usage, when nothing else is missing. */
const closingAfterUsageMs = 1_000;

/** The most bytes of an answer that may come without output: comments, pings, empty events. */
const emptyBytesMax = 64 * 1024 * 1024;
/** The most items and annotations of an answer. */
const itemsMax = 10_000;
/**
 * How much is decoded first, and twice as much each time until there is a batch. Events take several times the memory of their bytes,
 * and a stream that came in one piece waits until its hold is on disk.
 */
const firstBytes = 1024;

export interface AnswerSource {
  /** The provider's name. */
  name: string;
  body: IncomingBody;
  decoder: Decoder;
  /** Gets what is read, before it is decoded. */
  onRead?: ((bytes: Uint8Array) => void) | undefined;
  /** The secrets of the call, which an error in the stream may repeat. */
  secrets: () => KnownSecrets;
  /** How long to wait for the end of the stream after the finish reason, in milliseconds. */
  closingTimeoutMs: number;
  /** How long to wait for new output, in milliseconds. */
  outputTimeoutMs: number;
}

/**
 * Decodes a provider's bytes into batches of events. However it ends, the call to the provider ends too.
 * A handwritten iterator, since a generator would add asynchronous hops before each token.
 */
export class AnswerBatches implements AsyncIterableIterator<Batch> {
  readonly #name: string;
  readonly #body: IncomingBody;
  readonly #bytes: AsyncIterator<Uint8Array>;
  readonly #decoder: Decoder;
  readonly #onRead: AnswerSource['onRead'];
  readonly #secrets: AnswerSource['secrets'];
  readonly #closingTimeoutMs: number;
  readonly #outputTimeoutMs: number;
  /** How long this reader has waited since the last output. */
  #waitedMs = 0;
  /** Bytes that came without output, in the whole answer. */
  #emptyBytes = 0;
  #items = 0;
  #closesAt = Number.POSITIVE_INFINITY;
  /** Bytes that were read, but not decoded yet. */
  #undecoded: Uint8Array | undefined;
  #decodedMax = firstBytes;
  /** Batches that were read ahead. */
  #pushedBack: Batch[] = [];
  #hasEmitted = false;
  #isDone = false;
  #failure: UpstreamFailure | undefined;

  constructor({ name, body, decoder, onRead, secrets, closingTimeoutMs, outputTimeoutMs }: AnswerSource) {
    this.#name = name;
    this.#body = body;
    this.#bytes = body[Symbol.asyncIterator]();
    this.#decoder = decoder;
    this.#onRead = onRead;
    this.#secrets = secrets;
    this.#closingTimeoutMs = closingTimeoutMs;
    this.#outputTimeoutMs = outputTimeoutMs;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Batch> {
    return this;
  }

  /** Puts back a batch, which `next` returns again. */
  pushBack(batch: Batch): void {
    this.#pushedBack.push(batch);
  }

  /** Reads ahead to the first output. */
  async readToOutput(): Promise<void> {
    const ahead = this.#pushedBack.splice(0);
    while (!ahead.at(-1)?.events.some(isOutput)) {
      const read = await this.next();
      if (read.done) break;
      ahead.push(read.value);
    }
    this.#pushedBack = ahead;
  }

  async next(): Promise<IteratorResult<Batch>> {
    if (this.#pushedBack.length > 0) return { done: false, value: this.#pushedBack.shift() as Batch };
    while (!this.#isDone) {
      const batch = await this.#read();
      if (!isEmpty(batch)) return this.#emit(batch);
    }
    return this.#end();
  }

  return(): Promise<IteratorResult<Batch>> {
    this.#pushedBack = [];
    this.#failure = undefined;
    this.#stop();
    return Promise.resolve(done);
  }

  #emit(value: Batch): IteratorResult<Batch> {
    this.#hasEmitted = true;
    return { done: false, value };
  }

  #end(): IteratorResult<Batch> {
    const failure = this.#failure;
    if (failure === undefined) return done;
    this.#failure = undefined;
    throw maskFailure(failure, this.#secrets);
  }

  async #read(): Promise<Batch> {
    const decoder = this.#decoder;
    try {
      const startedAt = performance.now();
      const bytes = this.#undecoded ?? (await this.#readBytes());
      if (bytes === undefined) {
        this.#isDone = true;
        return decoder.end();
      }
      const decoded = this.#hasEmitted ? bytes : bytes.subarray(0, this.#decodedMax);
      this.#decodedMax *= 2;
      this.#undecoded = decoded.length < bytes.length ? bytes.subarray(decoded.length) : undefined;
      const batch = decoder.push(decoded);
      if (this.#hasOutput(batch)) this.#waitedMs = 0;
      else this.#waitOn(performance.now() - startedAt, decoded.length);
      if (decoder.hasFinished) this.#limitClosing(batch);
      if (decoder.failure !== undefined) {
        this.#failure = decoder.failure;
        this.#stop();
      } else if (decoder.isComplete) {
        this.#isDone = true;
        this.#drainTail();
      }
      return batch;
    } catch (error) {
      this.#stop();
      try {
        return this.#recover(error);
      } catch (failure) {
        throw maskFailure(failure, this.#secrets);
      }
    }
  }

  async #readBytes(): Promise<Uint8Array | undefined> {
    const read = await (this.#decoder.hasFinished ? this.#readWhileClosing() : this.#bytes.next());
    if (read.done) return undefined;
    this.#onRead?.(read.value);
    return read.value;
  }

  #hasOutput({ events, frames }: Batch): boolean {
    let hasOutput = false;
    for (const event of events) {
      if (event.type === 'item-started' || event.type === 'annotation') this.#countItem();
      hasOutput ||= event.type === 'item-started' || isOutput(event);
    }
    return hasOutput || (frames?.some(isOutputFrame) ?? false);
  }

  /** Bounds the memory of an answer whose items are empty. */
  #countItem(): void {
    this.#items += 1;
    if (this.#items > itemsMax) throw this.#excess('more items than allowed');
  }

  /** Signs of life, such as comments and pings, only extend an answer for so long. */
  #waitOn(ms: number, bytes: number): void {
    this.#waitedMs += ms;
    this.#emptyBytes += bytes;
    if (this.#waitedMs > this.#outputTimeoutMs)
      throw new UpstreamFailure('timeout', `${this.#name} sent no new output in time`);
    if (this.#emptyBytes > emptyBytesMax) throw this.#excess('too much without output');
  }

  /** The answer did not end early, as other broken ones: it is cut off here. */
  #excess(what: string): UpstreamFailure {
    return new UpstreamFailure('broken', `${this.#name} sent ${what}`, {
      publicMessage: `The provider ${this.#name} sent ${what}, so its answer was cut off.`,
    });
  }

  /** Not every server closes its streams, but usage often comes last: waits for the rest for a limited time. */
  #limitClosing({ events }: Batch): void {
    const hasUsage = events.some(({ type }) => type === 'usage');
    const ms = hasUsage ? Math.min(closingAfterUsageMs, this.#closingTimeoutMs) : this.#closingTimeoutMs;
    this.#closesAt = Math.min(this.#closesAt, performance.now() + ms);
  }

  async #readWhileClosing(): Promise<IteratorResult<Uint8Array>> {
    const ms = Math.max(0, this.#closesAt - performance.now());
    // Bytes that have already arrived win over the timer; a pending read ends with the call.
    const stopWaiting = whenLate(ms, () => this.#body.cancel());
    try {
      return await this.#bytes.next();
    } finally {
      stopWaiting();
    }
  }

  /** Ignores a broken connection if the answer was already complete, as the decoder knows. */
  #recover(error: unknown): Batch {
    const name = this.#name;
    if (error instanceof SseTooLong) {
      throw new UpstreamFailure('broken', `${name} sent an event that is longer than allowed`, {
        cause: error,
      });
    }
    if (!(error instanceof NetworkFailure)) throw error;
    if (error.kind !== 'aborted') {
      try {
        return this.#decoder.end();
      } catch (cut) {
        if (!(cut instanceof UpstreamFailure) || cut.kind !== 'broken') throw cut;
      }
    }
    throw this.#hasEmitted ? midStreamFailureOf(error, name) : upstreamFailureOf(error, name);
  }

  /** Reads the last bytes of a complete answer, so that the connection can be reused. */
  #drainTail(): void {
    this.#body.bytes(tailBytesMax).catch(() => undefined);
  }

  #stop(): void {
    this.#isDone = true;
    this.#undecoded = undefined;
    this.#body.cancel();
  }
}

/** Content that has no event: further choices, and deltas of items unknown to us. */
function isOutputFrame({ json: { type, delta, choices } }: RawFrame): boolean {
  if (typeof delta === 'string') return delta !== '';
  if (type === 'content_block_start') return true;
  if (type === 'content_block_delta') return hasContent(delta);
  return (
    Array.isArray(choices) &&
    choices.some((choice) => isObject(choice) && !!choice.index && hasContent(choice.delta))
  );
}

/** Whether a delta contains more than what it is a delta of. */
function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false;
  return Object.entries(delta).some(([name, value]) => name !== 'role' && name !== 'type' && !!value);
}

/** Whether an event is part of the answer's content. */
function isOutput(event: InferenceEvent): boolean {
  if ('delta' in event) return event.delta !== '';
  if (event.type === 'item-started') return event.item.kind === 'opaque';
  return event.type === 'item-done' || event.type === 'annotation';
}

function isEmpty({ events, frames }: Batch): boolean {
  return events.length === 0 && (frames === undefined || frames.length === 0);
}
