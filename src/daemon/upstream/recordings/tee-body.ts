import type { IncomingBody } from '../../world.ts';

export interface SeenChunk {
  /** Milliseconds since the request was sent. */
  afterMs: number;
  bytes: Uint8Array;
}

export interface TeeOptions {
  elapsed: () => number;
  bytesMax: number;
  /** Called once, when the answer is over in whatever way. */
  onEnd: (end: { chunks: readonly SeenChunk[]; isComplete: boolean; isTooLong: boolean }) => void;
}

/** A body that remembers what its reader took; it adds no hop of its own to what is read. */
export class TeeBody implements IncomingBody, AsyncIterator<Uint8Array> {
  readonly #body: IncomingBody;
  readonly #options: TeeOptions;
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #chunks: SeenChunk[] = [];
  #bytes = 0;
  #isOver = false;

  constructor(body: IncomingBody, options: TeeOptions) {
    this.#body = body;
    this.#options = options;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    this.#iterator ??= this.#body[Symbol.asyncIterator]();
    try {
      const read = await this.#iterator.next();
      if (read.done) this.#end({ isComplete: true });
      else this.#see(read.value);
      return read;
    } catch (error) {
      this.#end({ isComplete: false });
      throw error;
    }
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  async bytes(bytesMax: number): Promise<Uint8Array> {
    try {
      const bytes = await this.#body.bytes(bytesMax);
      if (bytes.length > 0) this.#see(bytes);
      this.#end({ isComplete: true });
      return bytes;
    } catch (error) {
      this.#end({ isComplete: false });
      throw error;
    }
  }

  cancel(): void {
    this.#body.cancel();
    this.#end({ isComplete: false });
  }

  #see(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#options.bytesMax) this.#chunks.push({ afterMs: this.#options.elapsed(), bytes });
    else this.#chunks = [];
  }

  #end({ isComplete }: { isComplete: boolean }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isTooLong = this.#bytes > this.#options.bytesMax;
    this.#options.onEnd({ chunks: this.#chunks, isComplete, isTooLong });
  }
}
