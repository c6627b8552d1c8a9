import { createHmac, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { TransientMap } from '../../../shared/async/transient.ts';
import { ApiError } from '../../../shared/errors.ts';
import { hostSecrets } from '../../../shared/masking/known-secrets.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Log } from '../../base/log.ts';
import type {
  AnsweredContent,
  AskedContent,
  ContentPage,
  ContentPreview,
  ContentSearch,
  ContentSelection,
  ContentStatus,
  ContentStore,
  KeptContent,
  StreamedContent,
} from '../../features/capture/index.ts';
import { startScript } from '../../worker-threads/start-script.ts';
import { ThreadLink } from '../../worker-threads/thread-link.ts';
import { movable, movedOf, sizeOf } from './content-bytes.ts';
import {
  type Captured,
  type ContentRequests,
  type ContentSettings,
  type ContentWorkerData,
  contentsOf,
  type FromContent,
  type ToContent,
} from './content-messages.ts';
import { withWaiting } from './kept-content.ts';

export interface ContentThreadOptions {
  /** How much may be kept; read with each batch. */
  settings: () => Omit<ContentSettings, 'now' | 'secrets'>;
  /** Whether content is to be kept on disk. */
  isOnDisk: () => boolean;
  /** Where, and encrypted with a key that is derived from this one; without it, content is kept in memory only. */
  disk?: { file: string; dataKey: Uint8Array };
  /** Milliseconds since 1970. */
  now: () => number;
  log: Pick<Log, 'warn'>;
  /** The most that waits for the thread, in bytes; default 4 MiB. */
  queuedBytesMax?: number;
}

/** Content is handed over together, as each message costs more than what is in it. */
const batchMs = 1_000;
const batchBytesMax = 256 * 1024;
/** The thread's start takes as much CPU as a hundred calls: it waits for some time, or until this much has come. */
const startMs = 10_000;
const startBytesMax = 1024 * 1024;
const defaultQueuedBytesMax = 4 * 1024 * 1024;
/** A call that was begun is taken whole, as long as no more than this many times the bound waits: its body, as it was sent, and its answer. */
const wholeFactor = 6;
const begun = Object.freeze({});
/** What a call takes besides its texts, about. */
const callBytes = 1_000;
/** Without content, the thread ends after this long. */
const idleMs = 10 * 60_000;
/** A thread that ended by itself is not started again sooner. */
const restartMs = 5_000;
const warnEveryMs = 60_000;
const warningsMax = 100;

interface Thread {
  worker: Worker;
  link: ThreadLink<ToContent, FromContent>;
}

/**
 * Main-thread side of the content of calls: a thread with low priority keeps it. As it takes 12 MB, it starts some
 * time after a first batch is full, or when content is for the disk or asked for, and ends when it has been idle and keeps nothing. What
 * comes faster than it can be stored is dropped and counted, as no call waits.
 */
export class ContentThread implements ContentStore {
  readonly #options: ContentThreadOptions;
  readonly #queuedBytesMax: number;
  #thread: Thread | undefined;
  #captured: Captured[] = [];
  #capturedBytes = 0;
  /** Of batches that the thread has not stored yet. */
  #sentBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** How many requests it was sent. */
  #asked = 0;
  /** When a thread ended by itself. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #dropped = 0;
  /** Calls whose request was taken, and whose answer is to come. */
  readonly #begun = new TransientMap<string, object>();
  readonly #warnedAt = new RecentMap<string, number>(warningsMax);

  constructor(options: ContentThreadOptions) {
    this.#options = options;
    this.#queuedBytesMax = options.queuedBytesMax ?? defaultQueuedBytesMax;
  }

  /** Whether a call would be dropped now, which is then counted. */
  isFull(): boolean {
    const waiting = this.#sentBytes + this.#capturedBytes;
    const isFull = waiting + callBytes > this.#queuedBytesMax || this.#isPaused();
    if (isFull) this.#drop();
    return isFull;
  }

  /** Counts calls that another thread had to drop. */
  countDropped(calls: number): void {
    this.#dropped += calls;
  }

  asked({ body, attempts, ...call }: AskedContent): void {
    const content = {
      ...call,
      body: movable(body),
      attempts: attempts.map((attempt) => ({ ...attempt, body: movable(attempt.body) })),
    };
    let bytes = callBytes + sizeOf(content.body);
    for (const { body, refusal } of content.attempts) bytes += sizeOf(body) + sizeOf(refusal);
    if (this.#add({ asked: content }, bytes)) this.#begun.set(call.requestId, begun);
    else this.#drop();
  }

  streamed(content: StreamedContent): boolean {
    const isTaken = this.#add(
      { streamed: content },
      callBytes + content.events.length + 8 * content.reads.length,
      this.#begun.get(content.requestId) !== undefined,
    );
    if (!isTaken) this.#drop();
    return isTaken;
  }

  answered({ answer, ...call }: AnsweredContent): void {
    const content = { ...call, answer: movable(answer) };
    const bytes = sizeOf(content.answer) + 8 * content.reads.length;
    const { wire } = content;
    const isBegun = this.#begun.get(call.requestId) !== undefined;
    this.#begun.delete(call.requestId);
    const wireBytes = wire ? wire.received.length + wire.sent.length : 0;
    if (this.#add({ answered: content }, bytes + wireBytes, isBegun)) return;
    this.#drop();
    // Where this is dropped as well, the request is still there.
    if (wire) this.#add({ answered: { ...content, wire: undefined } }, bytes, isBegun);
  }

  async find(workspaceId: string, requestId: string, page?: ContentPage) {
    return await this.#request('find', { workspaceId, requestId, page });
  }

  /** Does not start the thread for what is not stored yet, nor hand it over. */
  async kept(workspaceId: string, requestIds: readonly string[]): Promise<KeptContent[]> {
    const isStored = this.#thread !== undefined || this.#hasFile();
    const stored = isStored ? await this.#ask('kept', { workspaceId, requestIds }) : [];
    return withWaiting(stored, this.#captured, requestIds);
  }

  async previews(workspaceId: string, requestIds: readonly string[]): Promise<ContentPreview[]> {
    return (await this.#request('previews', { workspaceId, requestIds })) ?? [];
  }

  async compose(workspaceId: string, requestId: string) {
    return await this.#request('compose', { workspaceId, requestId });
  }

  async remove(workspaceId: string, requestId: string): Promise<boolean> {
    return (await this.#request('remove', { workspaceId, requestId })) ?? false;
  }

  async select(selection: ContentSelection): Promise<string[]> {
    return (await this.#request('select', selection)) ?? [];
  }

  async clear(selection: ContentSelection): Promise<number> {
    return (await this.#request('clear', selection)) ?? 0;
  }

  async search(search: ContentSearch) {
    return (await this.#request('search', search)) ?? { matches: [], scanned: 0, of: 0, next: null };
  }

  async status(workspaceId: string): Promise<ContentStatus> {
    const status = await this.#request('status', { workspaceId });
    return { calls: 0, bytes: 0, diskBytes: 0, oldestAt: null, ...status, dropped: this.#dropped };
  }

  async prune(): Promise<void> {
    if (this.#hasFile()) await this.#request('prune', { isUsed: this.#options.isOnDisk() });
  }

  /** Ends the thread; what it keeps in memory is gone. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    // What is kept on disk outlives the daemon.
    if (this.#thread !== undefined || this.#captured.some(isForDisk)) this.#flush();
    const thread = this.#thread;
    if (thread === undefined) return;
    const exited = new Promise((resolve) => thread.worker.once('exit', resolve));
    // Nothing else may keep the process: its end would come before that of the thread.
    thread.worker.ref();
    thread.link.tell('close', undefined);
    this.#forget(thread, new Error('the daemon stops'));
    await exited;
  }

  #add(captured: Captured, bytes: number, isBegun = false): boolean {
    const waiting = this.#sentBytes + this.#capturedBytes;
    // The bound is for what waits already: a call is not refused for its own size.
    if (waiting > this.#queuedBytesMax && !isBegun) return false;
    // Of nothing that waits, one is taken whatever its size.
    if (waiting > 0 && waiting + bytes > this.#queuedBytesMax * wholeFactor) return false;
    this.#captured.push(captured);
    this.#capturedBytes += bytes;
    const isStarted = this.#thread !== undefined || isForDisk(captured);
    if (this.#capturedBytes >= (isStarted ? batchBytesMax : startBytesMax)) this.#flush();
    else if (isStarted || this.#capturedBytes >= batchBytesMax)
      this.#timer ??= setTimeout(() => this.#flush(), isStarted ? batchMs : startMs).unref();
    return true;
  }

  #isPaused(): boolean {
    return this.#thread === undefined && performance.now() - this.#endedAt < restartMs;
  }

  #drop(): void {
    this.#dropped += 1;
    this.#warn('the content of some calls is not kept, as more comes than can be stored');
  }

  /** The same at most once a minute. */
  #warn(message: string): void {
    const now = performance.now();
    if (now - (this.#warnedAt.get(message) ?? Number.NEGATIVE_INFINITY) < warnEveryMs) return;
    this.#warnedAt.set(message, now);
    this.#options.log.warn({ dropped: this.#dropped }, message);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#captured.length === 0) return;
    const { link } = this.#running();
    const captured = this.#captured;
    const bytes = this.#capturedBytes;
    this.#captured = [];
    this.#capturedBytes = 0;
    this.#sentBytes += bytes;
    this.#tellSettings(link);
    link.ask('store', captured, movedOf(captured.flatMap(contentsOf))).then(
      (dropped) => {
        this.#sentBytes -= bytes;
        this.#dropped += dropped;
      },
      // The thread has ended, and nothing waits for it any more.
      () => {},
    );
  }

  #tellSettings(link: Thread['link']): void {
    const { settings, now } = this.#options;
    link.tell('settings', { ...settings(), secrets: hostSecrets.values, now: now() });
  }

  #hasFile(): boolean {
    const { disk } = this.#options;
    return disk !== undefined && existsSync(disk.file);
  }

  /** Undefined if nothing was captured yet. */
  #request<N extends keyof ContentRequests>(
    name: N,
    question: ContentRequests[N][0],
  ): Promise<ContentRequests[N][1] | undefined> {
    this.#flush();
    if (this.#thread === undefined && !this.#hasFile()) return Promise.resolve(undefined);
    return this.#ask(name, question);
  }

  #ask<N extends keyof ContentRequests>(
    name: N,
    question: ContentRequests[N][0],
  ): Promise<ContentRequests[N][1]> {
    const { link } = this.#running();
    this.#asked += 1;
    this.#tellSettings(link);
    return link.ask(name, question);
  }

  #running(): Thread {
    this.#thread ??= this.#start();
    this.#waitForIdle();
    return this.#thread;
  }

  #start(): Thread {
    const worker = startContentWorker(this.#workerData());
    const link = new ThreadLink<ToContent, FromContent>(worker, { warn: (message) => this.#warn(message) });
    const thread = { worker, link };
    worker.unref();
    const onEnd = (cause: Error) => {
      if (this.#thread !== thread) return;
      this.#options.log.warn({ err: cause }, 'the content of earlier calls in memory is lost');
      this.#endedAt = performance.now();
      this.#forget(thread, cause);
    };
    worker.on('error', onEnd);
    worker.on('exit', () => onEnd(new Error('the thread that keeps content ended')));
    return thread;
  }

  #workerData(): ContentWorkerData {
    const { disk } = this.#options;
    if (disk === undefined) return { digestKey: randomBytes(32), disk };
    const { file, dataKey } = disk;
    return {
      digestKey: derived(dataKey, 'gateway content digests'),
      disk: { file, key: derived(dataKey, 'gateway content') },
    };
  }

  #forget({ link }: Thread, cause: Error): void {
    this.#thread = undefined;
    this.#sentBytes = 0;
    link.end(new ApiError('unavailable', { cause }));
  }

  #waitForIdle(): void {
    if (this.#idle !== undefined) this.#idle.refresh();
    else this.#idle = setTimeout(() => void this.#endIfEmpty(), idleMs).unref();
  }

  async #endIfEmpty(): Promise<void> {
    const before = this.#asked;
    const isEmpty = await this.#request('isEmpty', undefined).catch(() => false);
    const isUnused = this.#asked === before + 1 && this.#captured.length === 0;
    if (isEmpty && isUnused) await this.close();
  }
}

function isForDisk(captured: Captured): boolean {
  return 'asked' in captured && captured.asked.level === 'disk';
}

function derived(key: Uint8Array, purpose: string): Uint8Array {
  return createHmac('sha256', key).update(purpose).digest();
}

function startContentWorker(workerData: ContentWorkerData): Worker {
  return startScript('content-worker', import.meta.url, {
    workerData,
    // Garbage is collected sooner: nothing waits for this thread.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
}
