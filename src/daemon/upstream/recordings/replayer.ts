import { ApiError } from '../../../shared/errors.ts';
import type { IncomingAnswer, IncomingBody, OutgoingRequest, World } from '../../base/world.ts';
import { networkFailure } from '../network-failures.ts';
import { type Difference, endpointOf, firstDifference, matchKey, type RecordedRequest } from './matching.ts';
import { jsonOrText } from './recorder.ts';
import { chunksOf, type RecordedChunk, type Recording, type StoredRecording } from './recording.ts';

export interface ReplayerOptions {
  recordings: readonly StoredRecording[];
  /** `real` keeps the recorded delays. */
  speed: 'real' | 'instant';
  world: Pick<World, 'sleep' | 'elapsed'>;
  /** Handles requests that were not recorded; without it they fail. */
  fallback?: World['send'];
  /** Called for each model call that fails because it was not recorded. */
  onMissing: (message: string) => void;
}

/**
 * Answers calls from recordings, without network access. Several recordings of one request are used in order, then the
 * last one repeatedly. A request without a recording fails with an ApiError that names the nearest one.
 */
export function createReplayer(options: ReplayerOptions): World['send'] {
  const { recordings, speed, world, fallback, onMissing } = options;
  const remaining = new Map<string, StoredRecording[]>();
  for (const stored of recordings) {
    const key = matchKey(stored.recording.request);
    const queue = remaining.get(key);
    if (queue === undefined) remaining.set(key, [stored]);
    else queue.push(stored);
  }

  return async (outgoing: OutgoingRequest): Promise<IncomingAnswer> => {
    const { method, url, signal } = outgoing;
    const request = { method, url, body: jsonOrText(outgoing.body) };
    const queue = remaining.get(matchKey(request));
    const stored = queue && queue.length > 1 ? queue.shift() : queue?.[0];
    if (stored === undefined) {
      if (fallback !== undefined) return await fallback(outgoing);
      const message = missingMessage(recordings, request);
      if (method === 'POST') onMissing(message);
      throw new ApiError('upstream_failed', { message });
    }
    const host = URL.canParse(url) ? new URL(url).host : 'unknown host';
    if (signal?.aborted) throw networkFailure('aborted', host);
    const body = new ReplayedBody(stored.recording, { speed, world, signal, host });
    await body.first();
    const { status, headers } = stored.recording.response;
    return { status, headers: { ...headers }, body };
  };
}

/** The providers with recorded answers. */
export function recordedProviders(recordings: readonly StoredRecording[]): Set<string> {
  return new Set(recordings.map(({ recording }) => recording.provider));
}

function missingMessage(recordings: readonly StoredRecording[], request: RecordedRequest): string {
  const endpoint = `${request.method} ${endpointOf(request.url)}`;
  const nearest = nearestTo(recordings, request);
  if (nearest === undefined) return `No recording answers ${endpoint}: the folder is empty.`;
  const { at, recorded, actual } = nearest.difference;
  return `${endpoint} was not recorded. The nearest recording is ${nearest.file}; the first difference is ${at}: recorded ${excerpt(recorded)}, sent ${excerpt(actual)}.`;
}

function nearestTo(recordings: readonly StoredRecording[], request: RecordedRequest) {
  let best: { file: string; difference: Difference } | undefined;
  for (const { file, recording } of recordings) {
    const difference = firstDifference(recording.request, request);
    if (difference && difference.equalParts > (best?.difference.equalParts ?? -1))
      best = { file, difference };
  }
  return best;
}

const excerptCharsMax = 80;

function excerpt(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > excerptCharsMax ? `${text.slice(0, excerptCharsMax)}…` : text;
}

interface ReplayOptions {
  speed: 'real' | 'instant';
  world: Pick<World, 'sleep' | 'elapsed'>;
  signal: AbortSignal | undefined;
  host: string;
}

/** Replays a recorded answer chunk by chunk. One that broke off does so at the same point. */
class ReplayedBody implements IncomingBody, AsyncIterator<Uint8Array> {
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

  /** Resolves when the first chunk is due. */
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
