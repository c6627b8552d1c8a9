import type { IncomingBody, World } from '../../world.ts';
import { networkFailure } from '../network-failures.ts';
import { chunksOf, type RecordedChunk, type Recording } from './recording.ts';

export interface ReplayOptions {
  speed: 'real' | 'instant';
  world: Pick<World, 'sleep' | 'elapsed'>;
  signal: AbortSignal | undefined;
  host: string;
}

/** A recorded answer, given again chunk by chunk; one that broke off breaks off in the same place. */
export class ReplayedBody implements IncomingBody, AsyncIterator<Uint8Array> {
  readonly #chunks: RecordedChunk[];
  readonly #isBroken: boolean;
  readonly #options: ReplayOptions;
  readonly #startedAt: number;
  #isCanceled = false;

  constructor(recording: Recording, options: ReplayOptions) {
    this.#chunks = [...chunksOf(recording)];
    this.#isBroken = recording.response.ended === 'broken';
    this.#options = options;
    this.#startedAt = options.world.elapsed();
  }

  /** Resolves when the answer begins. */
  first(): Promise<void> {
    return this.#until(this.#chunks[0]);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isCanceled) return { done: true, value: undefined };
    const chunk = this.#chunks.shift();
    await this.#until(chunk);
    if (chunk !== undefined) return { done: false, value: Buffer.from(chunk.text, 'utf8') };
    if (this.#isBroken) throw networkFailure('reset', this.#options.host);
    return { done: true, value: undefined };
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }

  async bytes(bytesMax: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (let read = await this.next(); !read.done; read = await this.next()) parts.push(read.value);
    const bytes = Buffer.concat(parts);
    if (bytes.length > bytesMax) throw networkFailure('too-large', this.#options.host);
    return bytes;
  }

  cancel(): void {
    this.#isCanceled = true;
  }

  async #until(chunk: RecordedChunk | undefined): Promise<void> {
    const { speed, world, signal, host } = this.#options;
    const ms = (chunk?.after_ms ?? 0) - (world.elapsed() - this.#startedAt);
    if (speed === 'real' && ms > 0) await world.sleep(ms, signal).catch(() => {});
    if (signal?.aborted) throw networkFailure('aborted', host);
  }
}
