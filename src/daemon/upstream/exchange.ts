import type { Dispatcher } from 'undici';
import { whenAborted } from '../../shared/async/when-aborted.ts';
import type { IncomingAnswer, IncomingBody, NetworkFailure, OutgoingRequest } from '../base/world.ts';
import { compressedFailure, networkFailure, networkFailureOf } from './network-failures.ts';

/** With more unread bytes than this, reading from the socket pauses: the system buffers what comes then. */
const bufferedBytesMax = 64 * 1024;
/** What one read of the body returns at most, unless one chunk is longer: what is made of it takes several times as much. */
const readBytesMax = 64 * 1024;
/** Chunks below this size are joined, as each one takes more memory than its bytes. */
const smallChunkBytes = 1_024;
const smallChunksMax = 256;
/** Interim responses, such as 103 Early Hints, before the headers. */
const interimResponsesMax = 32;

/** Servers name each way to pay in a header of its own; the value is a list. */
const challenges = 'www-authenticate';

const noBytes = new Uint8Array(0);
const done: IteratorResult<Uint8Array> = { done: true, value: undefined };
const readerLeft = new Error('the reader has left');

interface Pull {
  resolve(result: IteratorResult<Uint8Array>): void;
  reject(failure: NetworkFailure): void;
}

interface Collection {
  bytesMax: number;
  resolve(bytes: Uint8Array): void;
  reject(failure: NetworkFailure): void;
}

/**
 * One HTTP call in flight: undici pushes data, a reader pulls it. Handler, body and iterator are one object because every
 * object and every asynchronous hop here costs time for each token of each stream.
 */
export class Exchange implements Dispatcher.DispatchHandler, IncomingBody, AsyncIterator<Uint8Array> {
  /** Settles when the headers arrive. */
  readonly answer: Promise<IncomingAnswer>;
  /** Not the whole request: its body may be large, and is not needed once it was sent. */
  readonly #timing: Pick<
    OutgoingRequest,
    'idleTimeoutMs' | 'firstReadTimeoutMs' | 'bodyTimeoutMs' | 'totalTimeoutMs'
  >;
  readonly #host: string;
  #resolveAnswer!: (answer: IncomingAnswer) => void;
  #rejectAnswer!: (failure: NetworkFailure) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #contentLength = -1;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  /** Small chunks at the end of `#chunks`. */
  #smallChunks = 0;
  #interimResponses = 0;
  #isOpen = false;
  /** All bytes arrived, the reader left, or the call failed; later callbacks of undici are ignored. */
  #isOver = false;
  #failure: NetworkFailure | undefined;
  #pull: Pull | undefined;
  #collection: Collection | undefined;
  #hasRead = false;
  #isFlushing = false;
  readonly #flush = (): void => this.#answerPull();
  readonly #startedAt = performance.now();
  /** Until the headers, and then while a reader waits; in milliseconds of `performance.now()`, as all four. */
  #waitsUntil = Number.POSITIVE_INFINITY;
  #endsAt: number;
  /** One timer for both: it is left running when they are moved to later, as setting one costs more than all else here. */
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #ignoreSignal: (() => void) | undefined;

  constructor(request: OutgoingRequest, host: string) {
    const { signal, headersTimeoutMs, idleTimeoutMs, firstReadTimeoutMs, bodyTimeoutMs, totalTimeoutMs } =
      request;
    this.#timing = { idleTimeoutMs, firstReadTimeoutMs, bodyTimeoutMs, totalTimeoutMs };
    this.#host = host;
    this.#endsAt = this.#startedAt + (totalTimeoutMs ?? Number.POSITIVE_INFINITY);
    this.#waitsUntil = this.#startedAt + (headersTimeoutMs ?? Number.POSITIVE_INFINITY);
    this.#setTimer(this.#startedAt);
    this.answer = new Promise((resolve, reject) => {
      this.#resolveAnswer = resolve;
      this.#rejectAnswer = reject;
    });
    if (signal) this.#ignoreSignal = whenAborted(signal, () => this.#aborted());
  }

  // ---- called by undici ----

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(readerLeft);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return;
    if (status < 200) {
      this.#interimResponses += 1;
      if (this.#interimResponses > interimResponsesMax)
        this.#fail(networkFailure('unreadable', this.#host, 'interim responses without end'));
      return;
    }
    for (const name in headers) {
      const value = headers[name];
      if (typeof value !== 'string')
        headers[name] = (name === challenges ? value?.join(', ') : value?.at(-1)) ?? '';
    }
    const single = headers as Record<string, string>;
    const contentEncoding = single['content-encoding'];
    // Compressed bodies are never requested nor inflated: a few kilobytes can expand to gigabytes.
    if (
      contentEncoding !== undefined &&
      contentEncoding !== '' &&
      contentEncoding.toLowerCase() !== 'identity'
    ) {
      this.#rejectCompressed(status, single);
      return;
    }
    const length = single['content-length'];
    if (length !== undefined) this.#contentLength = Number(length);
    this.#isOpen = true;
    this.#waitsUntil = Number.POSITIVE_INFINITY;
    this.#resolveAnswer({ status, headers: single, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#hasRead = true;
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    this.#smallChunks = chunk.length < smallChunkBytes ? this.#smallChunks + 1 : 0;
    if (this.#smallChunks >= smallChunksMax) this.#joinSmallChunks();
    const collection = this.#collection;
    if (collection !== undefined) {
      if (this.#buffered > collection.bytesMax) this.#fail(networkFailure('too-large', this.#host));
      else this.#waitForRead();
    } else if (this.#pull !== undefined) {
      this.#flushSoon();
    } else if (this.#buffered > bufferedBytesMax) {
      controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    const collection = this.#collection;
    if (collection !== undefined) collection.resolve(this.#take());
    else if (this.#pull !== undefined) this.#flushSoon();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail(networkFailureOf(error, this.#host));
  }

  #aborted(): void {
    if (this.#isOver) return;
    this.#chunks = [];
    this.#buffered = 0;
    this.#fail(networkFailure('aborted', this.#host));
  }

  // ---- called by the reader ----

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#buffered > 0) return Promise.resolve({ done: false, value: this.#read() });
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#isOver) return Promise.resolve(done);
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject };
      this.#waitForRead();
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel();
    return Promise.resolve(done);
  }

  bytes(bytesMax: number): Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (Math.max(this.#buffered, this.#contentLength) > bytesMax) {
      this.cancel();
      return Promise.reject(networkFailure('too-large', this.#host));
    }
    if (this.#isOver) return Promise.resolve(this.#take());
    return new Promise((resolve, reject) => {
      this.#collection = { bytesMax, resolve, reject };
      const { bodyTimeoutMs = Number.POSITIVE_INFINITY } = this.#timing;
      this.#endsAt = Math.min(this.#endsAt, performance.now() + bodyTimeoutMs);
      this.#waitForRead();
      if (this.#controller?.paused) this.#controller.resume();
    });
  }

  cancel(): void {
    this.#chunks = [];
    this.#buffered = 0;
    if (this.#isOver) return;
    const isOpen = this.#isOpen;
    this.#finish();
    this.#controller?.abort(readerLeft);
    const ended = networkFailure('aborted', this.#host);
    if (!isOpen) this.#rejectAnswer(ended);
    this.#collection?.reject(ended);
    this.#pull?.resolve(done);
    this.#pull = undefined;
  }

  // ---- internal ----

  /** For a refusal, the status is enough. */
  #rejectCompressed(status: number, headers: Record<string, string>): void {
    if (status < 400) {
      this.#fail(compressedFailure(this.#host));
      return;
    }
    this.#finish();
    this.#controller?.abort(readerLeft);
    this.#resolveAnswer({ status, headers, body: this });
  }

  /** The first bytes: all, or as many chunks as fit into one read. */
  #read(): Uint8Array {
    if (this.#buffered <= readBytesMax) return this.#take();
    const chunks = this.#chunks;
    let length = chunks[0]?.length ?? 0;
    let count = 1;
    for (; count < chunks.length; count += 1) {
      const next = length + (chunks[count]?.length ?? 0);
      if (next > readBytesMax) break;
      length = next;
    }
    if (count === chunks.length) return this.#take();
    const bytes = joined(chunks.splice(0, count), length);
    this.#smallChunks = Math.min(this.#smallChunks, chunks.length);
    this.#buffered -= length;
    return bytes;
  }

  #take(): Uint8Array {
    const bytes = joined(this.#chunks, this.#buffered);
    this.#chunks = [];
    this.#smallChunks = 0;
    this.#buffered = 0;
    if (this.#controller?.paused && !this.#isOver) this.#controller.resume();
    return bytes;
  }

  #joinSmallChunks(): void {
    this.#chunks.push(Buffer.concat(this.#chunks.splice(-this.#smallChunks)));
    this.#smallChunks = 0;
  }

  /** One socket read gives many chunks, each in a callback of its own: the reader is woken once, after all of them. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(this.#flush);
  }

  #answerPull(): void {
    this.#isFlushing = false;
    const pull = this.#pull;
    if (pull === undefined) return;
    this.#pull = undefined;
    if (this.#buffered > 0) pull.resolve({ done: false, value: this.#read() });
    else if (this.#failure !== undefined) pull.reject(this.#failure);
    else pull.resolve(done);
  }

  #fail(failure: NetworkFailure): void {
    if (this.#isOver) return;
    const isOpen = this.#isOpen;
    this.#finish();
    this.#failure = failure;
    this.#controller?.abort(failure);
    if (!isOpen) this.#rejectAnswer(failure);
    if (this.#collection !== undefined) {
      this.#chunks = [];
      this.#collection.reject(failure);
    }
    this.#answerPull();
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ignoreSignal?.();
  }

  /** The time only counts while a reader waits: a slow reader is not the other host's fault. */
  #waitForRead(): void {
    const { idleTimeoutMs, firstReadTimeoutMs } = this.#timing;
    const ms = this.#hasRead ? idleTimeoutMs : (firstReadTimeoutMs ?? idleTimeoutMs);
    const now = performance.now();
    this.#waitsUntil = now + (ms ?? Number.POSITIVE_INFINITY);
    this.#setTimer(now);
  }

  #setTimer(now: number): void {
    const at = Math.min(this.#waitsUntil, this.#endsAt);
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    // A pause of this process may have passed the end.
    this.#timer = setTimeout(onTimer, Math.max(1, Math.ceil(at - now)), this);
  }

  /** Called by the timer, which may be early by a millisecond, or set for a time that has since been moved. */
  checkTime(): void {
    const now = performance.now();
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (now < Math.min(this.#waitsUntil, this.#endsAt)) this.#setTimer(now);
    // Timers run before sockets are read: after a pause of this process, what arrived meanwhile has yet to be read.
    else setImmediate(onceRead, this);
  }

  endIfLate(): void {
    if (this.#isOver) return;
    const now = performance.now();
    if (now >= this.#endsAt) this.#fail(networkFailure('total-timeout', this.#host));
    else if (now < this.#waitsUntil) this.#setTimer(now);
    else this.#stalled();
  }

  #stalled(): void {
    const isWaiting = (this.#pull !== undefined && !this.#isFlushing) || this.#collection !== undefined;
    if (!this.#isOpen) this.#fail(networkFailure('headers-timeout', this.#host));
    else if (isWaiting) this.#fail(networkFailure('idle-timeout', this.#host));
    else {
      this.#waitsUntil = Number.POSITIVE_INFINITY;
      this.#setTimer(performance.now());
    }
  }
}

/** One chunk is not copied. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first = noBytes] = chunks;
  if (chunks.length <= 1) return first;
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function onTimer(exchange: Exchange): void {
  exchange.checkTime();
}

function onceRead(exchange: Exchange): void {
  exchange.endIfLate();
}
