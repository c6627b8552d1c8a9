import { SseTooLong } from '../../shared/sse.ts';
import type { Batch } from '../features/inference/neutral.ts';
import { UpstreamFailure } from '../features/inference/upstream.ts';
import { type IncomingBody, NetworkFailure } from '../world.ts';
import type { Decoder } from './adapter.ts';
import { midStreamFailureOf, upstreamFailureOf } from './network-failures.ts';

const over: IteratorResult<Batch> = { done: true, value: undefined };
const afterwordBytesMax = 64 * 1024;
/** How long the end of a stream is waited for that has told what was used, too: nothing else is missing then. */
const countedMs = 1_000;

export interface AnswerSource {
  /** The provider's. */
  name: string;
  body: IncomingBody;
  decoder: Decoder;
  /** How long, in milliseconds, the end of the stream is waited for once the reason for the end of the answer was told. */
  closingMs: number;
}

/**
 * A provider's bytes as batches of events. Whichever way it ends, the call to the provider has ended too.
 * An iterator by hand: a generator would put more asynchronous hops before each token.
 */
export class AnswerBatches implements AsyncIterableIterator<Batch> {
  readonly #name: string;
  readonly #body: IncomingBody;
  readonly #bytes: AsyncIterator<Uint8Array>;
  readonly #decoder: Decoder;
  readonly #closingMs: number;
  #closesAt = Number.POSITIVE_INFINITY;
  #unread: Batch | undefined;
  #hasGiven = false;
  #isOver = false;
  #failure: UpstreamFailure | undefined;

  constructor({ name, body, decoder, closingMs }: AnswerSource) {
    this.#name = name;
    this.#body = body;
    this.#bytes = body[Symbol.asyncIterator]();
    this.#decoder = decoder;
    this.#closingMs = closingMs;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<Batch> {
    return this;
  }

  /** Puts a batch back that was taken before the reader came. */
  unread(batch: Batch): void {
    this.#unread = batch;
  }

  async next(): Promise<IteratorResult<Batch>> {
    const unread = this.#unread;
    if (unread !== undefined) {
      this.#unread = undefined;
      return { done: false, value: unread };
    }
    while (!this.#isOver) {
      const batch = await this.#read();
      if (!isEmpty(batch)) return this.#give(batch);
    }
    return this.#end();
  }

  /** Reads once; undefined when what came held no event, as heartbeats do. */
  async readOnce(): Promise<IteratorResult<Batch> | undefined> {
    if (this.#isOver) return this.#end();
    const batch = await this.#read();
    if (!isEmpty(batch)) return this.#give(batch);
    return this.#isOver ? this.#end() : undefined;
  }

  return(): Promise<IteratorResult<Batch>> {
    this.#unread = undefined;
    this.#failure = undefined;
    this.#stop();
    return Promise.resolve(over);
  }

  #give(value: Batch): IteratorResult<Batch> {
    this.#hasGiven = true;
    return { done: false, value };
  }

  #end(): IteratorResult<Batch> {
    const failure = this.#failure;
    if (failure === undefined) return over;
    this.#failure = undefined;
    throw failure;
  }

  async #read(): Promise<Batch> {
    const decoder = this.#decoder;
    try {
      const read = await (decoder.hasFinished ? this.#nextOfClosing() : this.#bytes.next());
      if (read.done) {
        this.#isOver = true;
        return decoder.end();
      }
      const batch = decoder.push(read.value);
      if (decoder.hasFinished) this.#closeSoon(batch);
      if (decoder.failure !== undefined) {
        this.#failure = decoder.failure;
        this.#stop();
      } else if (decoder.isComplete) {
        this.#isOver = true;
        this.#hearOut();
      }
      return batch;
    } catch (error) {
      this.#stop();
      return this.#salvage(error);
    }
  }

  /** Not every server closes its streams: what would still come is worth a short wait, as usage often comes last. */
  #closeSoon({ events }: Batch): void {
    const isCounted = events.some(({ type }) => type === 'usage');
    const ms = isCounted ? Math.min(countedMs, this.#closingMs) : this.#closingMs;
    this.#closesAt = Math.min(this.#closesAt, performance.now() + ms);
  }

  async #nextOfClosing(): Promise<IteratorResult<Uint8Array>> {
    const ms = Math.max(0, this.#closesAt - performance.now());
    // What is here already comes before any timer; a read that waits ends with the call.
    const timer = setTimeout(() => this.#body.cancel(), ms);
    try {
      return await this.#bytes.next();
    } finally {
      clearTimeout(timer);
    }
  }

  /** A connection that breaks after the answer was whole has done no harm: the decoder knows. */
  #salvage(error: unknown): Batch {
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
    throw this.#hasGiven ? midStreamFailureOf(error, name) : upstreamFailureOf(error, name);
  }

  /** Lets the last bytes of a whole answer pass, so that the connection can be used again. */
  #hearOut(): void {
    this.#body.bytes(afterwordBytesMax).catch(() => undefined);
  }

  #stop(): void {
    this.#isOver = true;
    this.#body.cancel();
  }
}

function isEmpty({ events, frames }: Batch): boolean {
  return events.length === 0 && (frames === undefined || frames.length === 0);
}
