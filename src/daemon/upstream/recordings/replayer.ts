import { ApiError } from '../../../shared/errors.ts';
import type { IncomingAnswer, IncomingBody, OutgoingRequest, World } from '../../world.ts';
import { networkFailure } from '../network-failures.ts';
import { type Asked, type Difference, firstDifference, matchKey, placeOf } from './matching.ts';
import { jsonOrText } from './recorder.ts';
import { chunksOf, type KeptRecording, type RecordedChunk, type Recording } from './recording.ts';

export interface ReplayerOptions {
  recordings: readonly KeptRecording[];
  /** `real` keeps the pauses of the recording. */
  speed: 'real' | 'instant';
  world: Pick<World, 'sleep' | 'elapsed'>;
  /** Asked for what was not recorded; without it such a call fails. */
  otherwise?: World['send'];
  /** Told of each model call that failed for that. */
  onMissing: (message: string) => void;
}

/**
 * Answers from recordings, with no network. Several recordings of one request answer it in their order, and the last of
 * them from then on. A request that is in none of them fails with an ApiError that names the nearest.
 */
export function createReplayer(options: ReplayerOptions): World['send'] {
  const { recordings, speed, world, otherwise, onMissing } = options;
  const rows = new Map<string, { left: KeptRecording[] }>();
  for (const kept of recordings) {
    const key = matchKey(askedOf(kept));
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { left: [kept] });
    else row.left.push(kept);
  }

  return async (request: OutgoingRequest): Promise<IncomingAnswer> => {
    const { method, url, signal } = request;
    const asked: Asked = { method, url, body: jsonOrText(request.body) };
    const row = rows.get(matchKey(asked));
    const kept = row && row.left.length > 1 ? row.left.shift() : row?.left[0];
    if (kept === undefined) {
      if (otherwise !== undefined) return await otherwise(request);
      const message = missing(recordings, asked);
      if (method === 'POST') onMissing(message);
      throw new ApiError('upstream_failed', { message });
    }
    const host = URL.canParse(url) ? new URL(url).host : 'unknown host';
    if (signal?.aborted) throw networkFailure('aborted', host);
    const body = new ReplayedBody(kept.recording, { speed, world, signal, host });
    await body.first();
    const { status, headers } = kept.recording.response;
    return { status, headers: { ...headers }, body };
  };
}

/** The providers that a folder has answers of. */
export function recordedProviders(recordings: readonly KeptRecording[]): Set<string> {
  return new Set(recordings.map(({ recording }) => recording.provider));
}

function askedOf({ recording: { request } }: KeptRecording): Asked {
  return { method: request.method, url: request.url, body: request.body };
}

function missing(recordings: readonly KeptRecording[], asked: Asked): string {
  const what = `${asked.method} ${placeOf(asked.url)}`;
  const nearest = nearestTo(recordings, asked);
  if (nearest === undefined) return `Nothing is recorded that answers ${what}: the folder is empty.`;
  const { file, difference } = nearest;
  const { at, recorded, asked: here } = difference;
  return `${what} was not recorded. The nearest recording is ${file}; the first difference is ${at}: recorded ${show(recorded)}, asked ${show(here)}.`;
}

function nearestTo(recordings: readonly KeptRecording[], asked: Asked) {
  let best: { file: string; difference: Difference } | undefined;
  for (const kept of recordings) {
    const difference = firstDifference(askedOf(kept), asked);
    if (difference && difference.alike > (best?.difference.alike ?? -1))
      best = { file: kept.file, difference };
  }
  return best;
}

const shownMax = 80;

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

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
