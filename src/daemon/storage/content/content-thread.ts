import { Worker } from 'node:worker_threads';
import { ApiError } from '../../../shared/errors.ts';
import type {
  AnsweredContent,
  AskedContent,
  ContentSearch,
  ContentSelection,
  ContentStatus,
  ContentStore,
} from '../../features/capture/index.ts';
import type { Log } from '../../log.ts';
import { threadEnvironment } from '../thread-environment.ts';
import type {
  Captured,
  ContentRequestName,
  ContentRequests,
  FromContent,
  ToContent,
} from './content-messages.ts';

export interface ContentThreadOptions {
  /** How much of memory the content may take; read with each batch. */
  memoryBytes: () => number;
  log: Pick<Log, 'warn'>;
  /** The most that waits for the thread, in bytes; default 4 MiB. */
  queuedBytesMax?: number;
}

/** Content is handed over together, as each message costs more than what is in it. */
const batchMs = 25;
const batchBytesMax = 256 * 1024;
const defaultQueuedBytesMax = 4 * 1024 * 1024;
/** What a call takes besides its texts, about. */
const callBytes = 1_000;
/** Without content, the thread ends after this long. */
const idleMs = 10 * 60_000;
const warnEveryMs = 60_000;

interface Pending {
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

interface Thread {
  worker: Worker;
  /** Sizes of the batches that it has not stored yet. */
  batches: number[];
}

/**
 * Main-thread side of the content of calls: a thread with the lowest priority keeps it. It starts with the first call and ends
 * when it has been idle and keeps nothing. What comes faster than it can be stored is dropped and counted, as no call waits.
 */
export class ContentThread implements ContentStore {
  readonly #options: ContentThreadOptions;
  readonly #queuedBytesMax: number;
  readonly #pending = new Map<number, Pending>();
  #thread: Thread | undefined;
  #captured: Captured[] = [];
  #capturedBytes = 0;
  /** Of batches that the thread has not stored yet. */
  #sentBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #dropped = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ContentThreadOptions) {
    this.#options = options;
    this.#queuedBytesMax = options.queuedBytesMax ?? defaultQueuedBytesMax;
  }

  /** Whether a call would be dropped now, which is then counted. */
  isFull(): boolean {
    const isFull = this.#sentBytes + this.#capturedBytes + callBytes > this.#queuedBytesMax;
    if (isFull) this.#drop();
    return isFull;
  }

  asked(content: AskedContent): void {
    let bytes = callBytes + sizeOf(content.body);
    for (const { body, refusal } of content.attempts) bytes += sizeOf(body) + sizeOf(refusal);
    if (!this.#add({ asked: content }, bytes)) this.#drop();
  }

  answered(content: AnsweredContent): void {
    // Where this is dropped, the request is still there.
    if (!this.#add({ answered: content }, sizeOf(content.answer) + 8 * content.reads.length)) this.#drop();
  }

  async find(workspaceId: string, requestId: string) {
    return await this.#request('find', { workspaceId, requestId });
  }

  async remove(workspaceId: string, requestId: string): Promise<boolean> {
    return (await this.#request('remove', { workspaceId, requestId })) ?? false;
  }

  async clear(selection: ContentSelection): Promise<number> {
    return (await this.#request('clear', selection)) ?? 0;
  }

  async search(search: ContentSearch) {
    return (await this.#request('search', search)) ?? { matches: [], scanned: 0, next: null };
  }

  async status(workspaceId: string): Promise<ContentStatus> {
    const status = await this.#request('status', { workspaceId });
    return { calls: 0, bytes: 0, oldestAt: null, ...status, dropped: this.#dropped };
  }

  /** Ends the thread; what it keeps in memory is gone. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#forget(new Error('the daemon stops'));
    if (thread === undefined) return;
    const exited = new Promise((resolve) => thread.worker.once('exit', resolve));
    thread.worker.postMessage({ close: true } satisfies ToContent);
    await exited;
  }

  #add(captured: Captured, bytes: number): boolean {
    const waiting = this.#sentBytes + this.#capturedBytes;
    // One call is taken whatever its size.
    if (waiting > 0 && waiting + bytes > this.#queuedBytesMax) return false;
    this.#captured.push(captured);
    this.#capturedBytes += bytes;
    if (this.#capturedBytes >= batchBytesMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), batchMs).unref();
    return true;
  }

  #drop(): void {
    this.#dropped += 1;
    const now = performance.now();
    if (now - this.#warnedAt < warnEveryMs) return;
    this.#warnedAt = now;
    this.#options.log.warn(
      { dropped: this.#dropped },
      'the content of some calls is not kept, as more comes than can be stored',
    );
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#captured.length === 0) return;
    const { worker, batches } = this.#running();
    const captured = this.#captured;
    const bytes = this.#capturedBytes;
    this.#captured = [];
    this.#capturedBytes = 0;
    this.#sentBytes += bytes;
    batches.push(bytes);
    worker.postMessage({ captured, memoryBytes: this.#options.memoryBytes() } satisfies ToContent);
  }

  /** Undefined if nothing was captured yet. */
  #request<N extends ContentRequestName>(
    name: N,
    data: ContentRequests[N][0],
  ): Promise<ContentRequests[N][1] | undefined> {
    this.#flush();
    const thread = this.#thread;
    if (thread === undefined) return Promise.resolve(undefined);
    this.#lastId += 1;
    const id = this.#lastId;
    this.#waitForIdle();
    thread.worker.postMessage({ id, name, data } satisfies ToContent);
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  #running(): Thread {
    this.#thread ??= this.#start();
    this.#waitForIdle();
    return this.#thread;
  }

  #start(): Thread {
    const worker = startContentWorker();
    const thread = { worker, batches: [] };
    worker.unref();
    worker.on('message', (message: FromContent) => this.#receive(thread, message));
    const onEnd = (cause: Error) => {
      if (this.#thread !== thread) return;
      this.#options.log.warn({ err: cause }, 'the content of earlier calls is lost');
      this.#forget(cause);
    };
    worker.on('error', onEnd);
    worker.on('exit', () => onEnd(new Error('the thread that keeps content ended')));
    return thread;
  }

  #receive({ batches }: Thread, message: FromContent): void {
    if ('stored' in message) {
      this.#sentBytes -= batches.shift() ?? 0;
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('problem' in message) {
      const cause = new Error(`content could not be read: ${message.problem}`);
      pending?.reject(new ApiError('unavailable', { cause }));
    } else pending?.resolve(message.result as never);
  }

  #forget(cause: Error): void {
    this.#thread = undefined;
    this.#sentBytes = 0;
    for (const { reject } of this.#pending.values()) reject(new ApiError('unavailable', { cause }));
    this.#pending.clear();
  }

  #waitForIdle(): void {
    if (this.#idle !== undefined) this.#idle.refresh();
    else this.#idle = setTimeout(() => void this.#endIfEmpty(), idleMs).unref();
  }

  async #endIfEmpty(): Promise<void> {
    const before = this.#lastId;
    const status = await this.#request('isEmpty', {}).catch(() => undefined);
    const isUnused = this.#lastId === before + 1 && this.#captured.length === 0;
    if (status && isUnused) await this.close();
  }
}

function sizeOf(content: Uint8Array | string | undefined): number {
  return content?.length ?? 0;
}

function startContentWorker(): Worker {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new Worker(new URL(`./content-worker${extension}`, import.meta.url), {
    name: 'gateway-content-worker',
    env: threadEnvironment(),
    // Garbage is collected sooner: nobody waits for this thread.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
}
