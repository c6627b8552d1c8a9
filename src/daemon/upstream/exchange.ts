import type { Dispatcher } from 'undici';
import type { IncomingAnswer, IncomingBody, NetworkFailure, OutgoingRequest } from '../world.ts';
import { networkFailure, networkFailureOf } from './network-failures.ts';

/** Past this many bytes that nobody has read, the other host is made to wait. */
export const bufferedBytesMax = 256 * 1024;

const nothing = new Uint8Array(0);
const over: IteratorResult<Uint8Array> = { done: true, value: undefined };
const leaving = new Error('the reader has left');

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
 * One call in flight: undici tells it what arrives, a reader pulls. It is handler, body and iterator in one, because
 * every object and every asynchronous hop here is paid by each token of each stream.
 */
export class Exchange implements Dispatcher.DispatchHandler, IncomingBody, AsyncIterator<Uint8Array> {
  /** Settles when the headers are there. */
  readonly answer: Promise<IncomingAnswer>;
  /** Not the request itself: its body may be large, and is not needed once it was sent. */
  readonly #terms: Pick<OutgoingRequest, 'signal' | 'idleTimeoutMs' | 'firstReadTimeoutMs'>;
  readonly #host: string;
  #opened!: (answer: IncomingAnswer) => void;
  #refused!: (failure: NetworkFailure) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #lengthTold = -1;
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #isOpen = false;
  /** All bytes came, the reader left, or it failed: nothing that undici tells matters any more. */
  #isOver = false;
  #failure: NetworkFailure | undefined;
  #pull: Pull | undefined;
  #collection: Collection | undefined;
  #hasRead = false;
  #isFlushing = false;
  readonly #flush = (): void => this.#answerPull();
  #timer: NodeJS.Timeout | undefined;
  #timerMs: number | undefined;

  constructor(request: OutgoingRequest, host: string) {
    const { signal, idleTimeoutMs, firstReadTimeoutMs } = request;
    this.#terms = { signal, idleTimeoutMs, firstReadTimeoutMs };
    this.#host = host;
    this.answer = new Promise((resolve, reject) => {
      this.#opened = resolve;
      this.#refused = reject;
    });
    signal?.addEventListener('abort', this);
  }

  // ---- what undici tells ----

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(leaving);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#isOver) return;
    for (const name in headers) {
      const value = headers[name];
      if (typeof value !== 'string') headers[name] = value?.at(-1) ?? '';
    }
    const single = headers as Record<string, string>;
    const encoding = single['content-encoding'];
    // What was not asked for is not inflated: a few kilobytes may unfold into gigabytes.
    if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
      this.#refuseCompressed(status, single);
      return;
    }
    const length = single['content-length'];
    if (length !== undefined) this.#lengthTold = Number(length);
    this.#isOpen = true;
    this.#opened({ status, headers: single, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#hasRead = true;
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const collection = this.#collection;
    if (collection !== undefined) {
      if (this.#buffered > collection.bytesMax) this.#fail(networkFailure('too-large', this.#host));
      else this.#timer?.refresh();
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

  /** The abort signal fired. */
  handleEvent(): void {
    if (this.#isOver) return;
    this.#chunks = [];
    this.#buffered = 0;
    this.#fail(networkFailure('aborted', this.#host));
  }

  // ---- what the reader asks ----

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    if (this.#buffered > 0) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#isOver) return Promise.resolve(over);
    return new Promise((resolve, reject) => {
      this.#pull = { resolve, reject };
      this.#startTimer();
    });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.cancel();
    return Promise.resolve(over);
  }

  bytes(bytesMax: number): Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (Math.max(this.#buffered, this.#lengthTold) > bytesMax) {
      this.cancel();
      return Promise.reject(networkFailure('too-large', this.#host));
    }
    if (this.#isOver) return Promise.resolve(this.#take());
    return new Promise((resolve, reject) => {
      this.#collection = { bytesMax, resolve, reject };
      this.#startTimer();
      if (this.#controller?.paused) this.#controller.resume();
    });
  }

  cancel(): void {
    this.#chunks = [];
    this.#buffered = 0;
    if (this.#isOver) return;
    const isOpen = this.#isOpen;
    this.#finish();
    this.#controller?.abort(leaving);
    const ended = networkFailure('aborted', this.#host);
    if (!isOpen) this.#refused(ended);
    this.#collection?.reject(ended);
    this.#pull?.resolve(over);
    this.#pull = undefined;
  }

  // ---- inside ----

  /** The status of a refusal tells enough without its body. */
  #refuseCompressed(status: number, headers: Record<string, string>): void {
    if (status < 400) {
      const why = 'the answer is compressed though that was not asked for';
      this.#fail(networkFailure('unreadable', this.#host, why));
      return;
    }
    this.#finish();
    this.#controller?.abort(leaving);
    this.#opened({ status, headers, body: this });
  }

  #take(): Uint8Array {
    const chunks = this.#chunks;
    const first = chunks[0];
    let bytes = first ?? nothing;
    if (chunks.length > 1) {
      bytes = Buffer.allocUnsafe(this.#buffered);
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
    }
    this.#chunks = [];
    this.#buffered = 0;
    if (this.#controller?.paused && !this.#isOver) this.#controller.resume();
    return bytes;
  }

  /** One read of a socket holds many chunks, told one by one: the reader is woken once, when all of them are here. */
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
    if (this.#buffered > 0) pull.resolve({ done: false, value: this.#take() });
    else if (this.#failure !== undefined) pull.reject(this.#failure);
    else pull.resolve(over);
  }

  #fail(failure: NetworkFailure): void {
    if (this.#isOver) return;
    const isOpen = this.#isOpen;
    this.#finish();
    this.#failure = failure;
    this.#controller?.abort(failure);
    if (!isOpen) this.#refused(failure);
    if (this.#collection !== undefined) {
      this.#chunks = [];
      this.#collection.reject(failure);
    }
    this.#answerPull();
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#terms.signal?.removeEventListener('abort', this);
  }

  /** The clock runs only while a reader waits: a slow reader is no fault of the other host. */
  #startTimer(): void {
    const { idleTimeoutMs, firstReadTimeoutMs } = this.#terms;
    const ms = this.#hasRead ? idleTimeoutMs : (firstReadTimeoutMs ?? idleTimeoutMs);
    if (ms !== this.#timerMs) {
      clearTimeout(this.#timer);
      this.#timer = ms === undefined ? undefined : setTimeout(onTimer, ms, this);
      this.#timerMs = ms;
    } else {
      this.#timer?.refresh();
    }
  }

  /** Called by the timer. */
  stalled(): void {
    const isWaiting = (this.#pull !== undefined && !this.#isFlushing) || this.#collection !== undefined;
    if (isWaiting) this.#fail(networkFailure('idle-timeout', this.#host));
  }
}

function onTimer(exchange: Exchange): void {
  exchange.stalled();
}
