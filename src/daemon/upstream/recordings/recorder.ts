import { createHash } from 'node:crypto';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { maskHeaders, secretsOfRequest } from '../../../shared/masking/mask-headers.ts';
import { maskJson } from '../../../shared/masking/mask-json.ts';
import { maskText, maskUrl } from '../../../shared/masking/mask-text.ts';
import type { IncomingAnswer, IncomingBody, OutgoingRequest, World } from '../../base/world.ts';
import { isTooDeep } from '../json.ts';
import { matchKey } from './matching.ts';
import type { RecordedChunk, Recording } from './recording.ts';

/** Longer answers are not recorded. */
const recordedBytesMax = 16 * 1024 * 1024;

export interface RecorderOptions {
  folder: string;
  send: World['send'];
  now: () => number;
  elapsed: () => number;
  /** Called when a call could not be recorded. */
  onFailure: (error: unknown) => void;
}

export interface Recorder {
  send: World['send'];
  /** Resolves when all calls that have ended are written. */
  written(): Promise<void>;
}

/** Records each call in a file, written after the call has ended, so that no answer is delayed. */
export async function createRecorder(options: RecorderOptions): Promise<Recorder> {
  const { folder, now, elapsed, onFailure } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writing = new Set<Promise<void>>();
  let count = 0;

  const record = (request: PendingRequest, answer: IncomingAnswer, end: BodyEnd): void => {
    count += 1;
    const work = writeRecording(folder, recordingOf(request, answer, end), { at: request.at, count })
      .catch(onFailure)
      .finally(() => writing.delete(work));
    writing.add(work);
  };

  const send = async (request: OutgoingRequest): Promise<IncomingAnswer> => {
    const at = now();
    const sentAt = elapsed();
    const { method, url, headers, body, provider } = request;
    const answer = await options.send(request);
    const pending = { method, url, headers, body, provider, at };
    const tee = new TeeBody(answer.body, {
      elapsed: () => elapsed() - sentAt,
      bytesMax: recordedBytesMax,
      onEnd: (end) => {
        if (end.isTooLong) onFailure(new Error(`an answer of ${hostOf(url)} is too long to be recorded`));
        else record(pending, answer, end);
      },
    });
    return { ...answer, body: tee };
  };

  return {
    send,
    async written() {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}

type PendingRequest = Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body' | 'provider'> & {
  at: number;
};

interface BodyEnd {
  chunks: readonly CapturedChunk[];
  isComplete: boolean;
}

const skippedHeaders = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

function recordingOf(
  request: PendingRequest,
  answer: IncomingAnswer,
  { chunks, isComplete }: BodyEnd,
): Recording {
  const { method, url, headers, body, provider, at } = request;
  const known = secretsOfRequest({ url, headers });
  const requestBody = maskJson(jsonOrText(body), known);
  const model = modelOf(requestBody, url);
  const keptHeaders = Object.entries(maskHeaders(answer.headers)).filter(
    ([name]) => !skippedHeaders.has(name),
  );
  return {
    recorded_at: new Date(at).toISOString(),
    provider: provider ?? hostOf(url),
    ...(model !== undefined && { model }),
    request: {
      method,
      url: maskText(maskUrl(url), { known }),
      headers: maskJson(maskHeaders(headers), known) as Record<string, string>,
      ...(requestBody !== undefined && { body: requestBody }),
    },
    response: {
      status: answer.status,
      headers: maskJson(Object.fromEntries(keptHeaders), known) as Record<string, string>,
      ended: isComplete ? 'complete' : 'broken',
      ...answerOf(chunks, known, { isComplete }),
    },
  };
}

/** The body as JSON if that preserves its text, else as chunks. */
function answerOf(
  captured: readonly CapturedChunk[],
  known: KnownSecrets,
  { isComplete }: { isComplete: boolean },
): Pick<Recording['response'], 'json' | 'chunks'> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const chunks: RecordedChunk[] = [];
  for (const { afterMs, bytes } of captured) {
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') chunks.push({ after_ms: Math.round(afterMs), text });
  }
  const rest = decoder.decode();
  if (rest !== '') chunks.push({ after_ms: chunks.at(-1)?.after_ms ?? 0, text: rest });
  const whole = chunks.map(({ text }) => text).join('');
  const clean = maskText(whole, { known });
  const json = isComplete ? jsonOrText(clean) : undefined;
  if (typeof json === 'object' && JSON.stringify(json) === clean) return { json };
  const each = chunks.map(({ text, ...chunk }) => ({ ...chunk, text: maskText(text, { known }) }));
  // A secret that is split between chunks is only found in the whole text.
  if (each.map(({ text }) => text).join('') === clean) return { chunks: each };
  return { chunks: [{ after_ms: chunks.at(-1)?.after_ms ?? 0, text: clean }] };
}

/** The file name has the time, provider, model and a digest that is the same for equivalent requests. */
async function writeRecording(
  folder: string,
  recording: Recording,
  { at, count }: { at: number; count: number },
): Promise<void> {
  const { request, provider, model } = recording;
  const time = new Date(at).toISOString().replace(/[-:]/g, '').replace('.', '-');
  const digest = createHash('sha256')
    .update(matchKey({ body: undefined, ...request }))
    .digest('hex');
  const parts = [
    time,
    String(count).padStart(4, '0'),
    fileNamePart(provider),
    fileNamePart(model ?? 'none'),
    digest.slice(0, 8),
  ];
  const path = join(folder, `${parts.join('_')}.yaml`);
  const unfinished = `${path}.part`;
  const text = stringify(recording, { lineWidth: 0, aliasDuplicateObjects: false });
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}

function fileNamePart(name: string): string {
  return name.replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, 60);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown';
}

/** Google names the model in the path. */
function modelOf(body: unknown, url: string): string | undefined {
  const named = typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;
  if (typeof named === 'string') return named;
  return /\/models\/([^:/?]+)/.exec(url)?.[1];
}

/** The body parsed as JSON; the text if it is not JSON or is nested too deeply. */
export function jsonOrText(body: string | Uint8Array | undefined): unknown {
  if (body === undefined) return undefined;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  try {
    return isTooDeep(text) ? text : JSON.parse(text);
  } catch {
    return text;
  }
}

interface CapturedChunk {
  /** Milliseconds since the request was sent. */
  afterMs: number;
  bytes: Uint8Array;
}

interface TeeOptions {
  elapsed: () => number;
  bytesMax: number;
  /** Called once, when the answer ends for any reason. */
  onEnd: (end: { chunks: readonly CapturedChunk[]; isComplete: boolean; isTooLong: boolean }) => void;
}

/** Passes a body through to its reader and captures what was read. */
class TeeBody implements IncomingBody, AsyncIterator<Uint8Array> {
  readonly #body: IncomingBody;
  readonly #options: TeeOptions;
  #iterator: AsyncIterator<Uint8Array> | undefined;
  #chunks: CapturedChunk[] = [];
  #bytes = 0;
  #isEnded = false;

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
      else this.#remember(read.value);
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
      if (bytes.length > 0) this.#remember(bytes);
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

  #remember(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= this.#options.bytesMax) this.#chunks.push({ afterMs: this.#options.elapsed(), bytes });
    else this.#chunks = [];
  }

  #end({ isComplete }: { isComplete: boolean }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const isTooLong = this.#bytes > this.#options.bytesMax;
    this.#options.onEnd({ chunks: this.#chunks, isComplete, isTooLong });
  }
}
