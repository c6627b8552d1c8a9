import { createHash } from 'node:crypto';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { IncomingAnswer, IncomingBody, OutgoingRequest, World } from '../../world.ts';
import { isTooDeep } from '../json.ts';
import { matchKey } from './matching.ts';
import type { RecordedChunk, Recording } from './recording.ts';
import {
  secretsIn,
  withoutSecretHeaders,
  withoutSecretParameters,
  withoutSecrets,
  withoutSecretsDeep,
} from './secrets.ts';

/** Longer exchanges are answered and not kept. */
const recordedBytesMax = 16 * 1024 * 1024;

export interface RecorderOptions {
  folder: string;
  send: World['send'];
  now: () => number;
  elapsed: () => number;
  /** Told when an exchange could not be kept. */
  onFailure: (error: unknown) => void;
}

export interface Recorder {
  send: World['send'];
  /** Resolves when everything that ended so far is in its file. */
  written(): Promise<void>;
}

/** Keeps each exchange in a file of its own, written after the exchange is over: no answer waits for it. */
export async function createRecorder(options: RecorderOptions): Promise<Recorder> {
  const { folder, now, elapsed, onFailure } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const writing = new Set<Promise<void>>();
  let count = 0;

  const keep = (request: Asking, answer: IncomingAnswer, end: Ended): void => {
    count += 1;
    const work = write(folder, recordingOf(request, answer, end), { at: request.at, count })
      .catch(onFailure)
      .finally(() => writing.delete(work));
    writing.add(work);
  };

  const send = async (request: OutgoingRequest): Promise<IncomingAnswer> => {
    const at = now();
    const sentAt = elapsed();
    const { method, url, headers, body, provider } = request;
    const answer = await options.send(request);
    const asking = { method, url, headers, body, provider, at };
    const tee = new TeeBody(answer.body, {
      elapsed: () => elapsed() - sentAt,
      bytesMax: recordedBytesMax,
      onEnd: (end) => {
        if (end.isTooLong) onFailure(new Error(`an answer of ${hostOf(url)} is too long to be recorded`));
        else keep(asking, answer, end);
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

type Asking = Pick<OutgoingRequest, 'method' | 'url' | 'headers' | 'body' | 'provider'> & { at: number };

interface Ended {
  chunks: readonly SeenChunk[];
  isComplete: boolean;
}

const skippedHeaders = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive']);

function recordingOf(request: Asking, answer: IncomingAnswer, { chunks, isComplete }: Ended): Recording {
  const { method, url, headers, body, provider, at } = request;
  const secrets = secretsIn(url, headers);
  const asked = withoutSecretsDeep(jsonOrText(body), secrets);
  const model = modelOf(asked, url);
  const kept = Object.entries(withoutSecretHeaders(answer.headers)).filter(
    ([name]) => !skippedHeaders.has(name),
  );
  return {
    recorded_at: new Date(at).toISOString(),
    provider: provider ?? hostOf(url),
    ...(model !== undefined && { model }),
    request: {
      method,
      url: withoutSecrets(withoutSecretParameters(url), secrets),
      headers: withoutSecretsDeep(withoutSecretHeaders(headers), secrets) as Record<string, string>,
      ...(asked !== undefined && { body: asked }),
    },
    response: {
      status: answer.status,
      headers: withoutSecretsDeep(Object.fromEntries(kept), secrets) as Record<string, string>,
      ended: isComplete ? 'complete' : 'broken',
      ...answerOf(chunks, secrets, { isComplete }),
    },
  };
}

/** A document as JSON where that is the same text, everything else as it came. */
function answerOf(
  seen: readonly SeenChunk[],
  secrets: readonly string[],
  { isComplete }: { isComplete: boolean },
): Pick<Recording['response'], 'json' | 'chunks'> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const chunks: RecordedChunk[] = [];
  for (const { afterMs, bytes } of seen) {
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') chunks.push({ after_ms: Math.round(afterMs), text });
  }
  const rest = decoder.decode();
  if (rest !== '') chunks.push({ after_ms: chunks.at(-1)?.after_ms ?? 0, text: rest });
  const whole = chunks.map(({ text }) => text).join('');
  const clean = withoutSecrets(whole, secrets);
  const json = isComplete ? jsonOrText(clean) : undefined;
  if (typeof json === 'object' && JSON.stringify(json) === clean) return { json };
  const each = chunks.map(({ text, ...chunk }) => ({ ...chunk, text: withoutSecrets(text, secrets) }));
  // A secret that is cut in two by the chunks is only found in the whole.
  if (each.map(({ text }) => text).join('') === clean) return { chunks: each };
  return { chunks: [{ after_ms: chunks.at(-1)?.after_ms ?? 0, text: clean }] };
}

/** The name tells when, who, which model and, in its last part, what: equal requests end equally. */
async function write(
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
    plain(provider),
    plain(model ?? 'none'),
    digest.slice(0, 8),
  ];
  const path = join(folder, `${parts.join('_')}.yaml`);
  const unfinished = `${path}.part`;
  const text = stringify(recording, { lineWidth: 0, aliasDuplicateObjects: false });
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await chmod(unfinished, 0o600);
  await rename(unfinished, path);
}

function plain(name: string): string {
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

/** JSON where it is JSON that can be walked over, else the text. */
export function jsonOrText(body: string | Uint8Array | undefined): unknown {
  if (body === undefined) return undefined;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  try {
    return isTooDeep(text) ? text : JSON.parse(text);
  } catch {
    return text;
  }
}

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
