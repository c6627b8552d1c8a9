import { type ChildProcess, fork } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../shared/faults/message-of.ts';
import type { Log } from '../../base/log.ts';
import type { IncomingAnswer, OutgoingRequest } from '../../base/world.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { Exchange } from '../exchange.ts';
import { parseObject } from '../json.ts';
import { networkFailure, upstreamFailureOf } from '../network-failures.ts';
import { openAiFailure } from '../providers/openai-chat/failure.ts';
import { readText } from '../response-body.ts';
import type { FromModel, ModelFacts, ToModel, Work } from './protocol.ts';

/** Settings of all models; a reload changes them. */
export interface EngineSettings {
  /** The most memory that the process of a model may take. */
  readonly memoryBytes: number;
  readonly contextTokens: number;
  /** Unused for so long, a model leaves memory. */
  readonly idleMs: number;
}

export interface ModelProcessDeps {
  /** The library's main module as a file URL; undefined if it is not installed. */
  library: () => string | undefined;
  settings: EngineSettings;
  log: Pick<Log, 'warn'>;
}

export interface ModelFile {
  /** For messages. */
  name: string;
  path: string;
  /** Its expected size; undefined if it is not known yet. */
  bytes: number | undefined;
}

type Timing = Pick<
  OutgoingRequest,
  'signal' | 'headersTimeoutMs' | 'firstReadTimeoutMs' | 'idleTimeoutMs' | 'bodyTimeoutMs' | 'totalTimeoutMs'
>;

/** Requests that run or wait. */
const openMax = 64;
/** A model that does not end a canceled request in this time hangs. */
const cancelMs = 30_000;
/** A model that could not be loaded is not tried again for this long. */
const failedMs = 10_000;
const errorOutputMax = 4_000;
const answerBytesMax = 4 * 1024 * 1024;

/** The variables that a model's process gets; others may be secrets. */
const passedVariables =
  /^(PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|LANG|NODE_COMPILE_CACHE|(LD|DYLD|CUDA|NVIDIA|HIP|ROCR|VK|GGML)_.*)$/i;

interface Asked {
  exchange: Exchange;
  hasHead: boolean;
}

/** A started process. */
interface Running {
  child: ChildProcess;
  loaded: Promise<ModelFacts>;
  asked: Map<number, Asked>;
  /** Why it ended, if it said so. */
  reason: string | undefined;
  /** Whether it was ended because no one used it. */
  isUnloaded: boolean;
}

/**
 * A model in a process of its own, which is started by the first request and ended when it is not used. When it crashes, its
 * requests fail, and the next one starts it again.
 */
export class ModelProcess {
  readonly file: ModelFile;
  readonly #deps: ModelProcessDeps;
  #running: Running | undefined;
  #lastId = 0;
  #open = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #failure: { reason: string; until: number } | undefined;
  #isClosed = false;

  constructor(file: ModelFile, deps: ModelProcessDeps) {
    this.file = file;
    this.#deps = deps;
  }

  /** The process id; undefined while the model is not in memory. */
  get pid(): number | undefined {
    return this.#running?.child.pid;
  }

  /** Loads the model. Rejects with an `UpstreamFailure` whose message says why it cannot be loaded. */
  async load(): Promise<ModelFacts> {
    this.#countRequest();
    try {
      return await this.#start().loaded;
    } finally {
      this.#uncountRequest();
    }
  }

  /** Asks for a JSON document. Rejects with an `UpstreamFailure`, or with the signal's reason. */
  async ask<T>(work: Work, body: unknown, signal?: AbortSignal): Promise<T> {
    const { name } = this.file;
    try {
      const { status, headers, body: answer } = await this.send(work, body, { ...(signal && { signal }) });
      const text = await readText(answer, answerBytesMax);
      // The reason why the model cannot be asked is this program's own sentence.
      if (status === 503) throw new UpstreamFailure('server', reasonIn(text));
      if (status >= 400) throw openAiFailure(name, status, headers, text);
      const document = parseObject(text);
      if (document === undefined) throw new UpstreamFailure('server', `the process of ${name} ended`);
      return document as T;
    } catch (error) {
      signal?.throwIfAborted();
      throw upstreamFailureOf(error, name);
    }
  }

  /** Sends a request as if over HTTP. A model that cannot be loaded answers 503. Rejects with a `NetworkFailure`. */
  send(work: Work, body: unknown, timing: Timing): Promise<IncomingAnswer> {
    const { name } = this.file;
    if (timing.signal?.aborted) return Promise.reject(networkFailure('aborted', name));
    const exchange = new Exchange({ ...timing, method: 'POST', url: '', headers: {} }, name);
    if (this.#open >= openMax) {
      refuse(exchange, 429, `${name} has too many requests waiting.`);
      return exchange.answer;
    }
    this.#countRequest();
    this.#lastId += 1;
    void this.#dispatch(exchange, { type: 'ask', id: this.#lastId, work, body });
    return exchange.answer;
  }

  /** Ends the process; requests that run fail, and later ones are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    const child = this.#running?.child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async #dispatch(exchange: Exchange, message: Extract<ToModel, { type: 'ask' }>): Promise<void> {
    const { id } = message;
    let running: Running | undefined;
    let isOver = false;
    exchange.onRequestStart(
      controllerOf(() => {
        isOver = true;
        if (running) this.#cancel(running, id);
      }),
    );
    try {
      const started = this.#start();
      await started.loaded;
      if (isOver) return this.#uncountRequest();
      running = started;
      running.asked.set(id, { exchange, hasHead: false });
      post(running, message);
    } catch (error) {
      this.#uncountRequest();
      refuse(exchange, 503, messageOf(error));
    }
  }

  #cancel(running: Running, id: number): void {
    if (!running.asked.has(id)) return;
    post(running, { type: 'cancel', id });
    setTimeout(() => {
      if (running.asked.has(id)) running.child.kill('SIGKILL');
    }, cancelMs).unref();
  }

  /** The process, which is started if it does not run. */
  #start(): Running {
    if (this.#running) return this.#running;
    const { library, settings } = this.#deps;
    const { name, path, bytes } = this.file;
    const failure = this.#failure;
    if (this.#isClosed) throw new UpstreamFailure('server', `${name} was removed`);
    if (failure && failure.until > performance.now()) throw new UpstreamFailure('server', failure.reason);
    const main = library();
    if (main === undefined)
      throw new UpstreamFailure('server', 'node-llama-cpp is not installed: run gateway engine install');
    const script = new URL(
      `./model-child${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
      import.meta.url,
    );
    const child = fork(fileURLToPath(script), {
      execArgv: [],
      env: Object.fromEntries(Object.entries(process.env).filter(([key]) => passedVariables.test(key))),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const loaded = Promise.withResolvers<ModelFacts>();
    loaded.promise.catch(() => {});
    const running: Running = {
      child,
      loaded: loaded.promise,
      asked: new Map(),
      reason: undefined,
      isUnloaded: false,
    };
    this.#running = running;
    let errorOutput = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      errorOutput = (errorOutput + chunk).slice(-errorOutputMax);
    });
    child.on('message', (message: FromModel) => {
      if (message.type === 'loaded') loaded.resolve(message.facts);
      else this.#onMessage(running, message);
    });
    child.once('error', (error) => {
      running.reason ??= error.message;
    });
    child.once('close', (code, signal) => {
      this.#onClose(running, { end: signal ?? `exit ${code}`, errorOutput, fail: loaded.reject });
    });
    const { memoryBytes, contextTokens } = settings;
    checkFile({ path, bytes, memoryBytes }).then(
      () => post(running, { type: 'load', library: main, path, contextTokens, memoryBytes }),
      (error: Error) => {
        running.reason = error.message;
        child.kill('SIGKILL');
      },
    );
    return running;
  }

  #onMessage(running: Running, message: Exclude<FromModel, { type: 'loaded' }>): void {
    if (message.type === 'failed') {
      running.reason = message.reason;
      return;
    }
    const asked = running.asked.get(message.id);
    if (asked === undefined) return;
    const { exchange } = asked;
    if (message.type === 'head') {
      asked.hasHead = true;
      exchange.onResponseStart(controllerOf(), message.status, { 'content-type': message.contentType });
    } else if (message.type === 'data') {
      exchange.onResponseData(controllerOf(), Buffer.from(message.text));
    } else {
      running.asked.delete(message.id);
      exchange.onResponseEnd();
      this.#uncountRequest();
    }
  }

  #onClose(
    running: Running,
    { end, errorOutput, fail }: { end: string; errorOutput: string; fail: (error: Error) => void },
  ): void {
    const { name } = this.file;
    // Not before: until its output has ended, why it failed may not be known.
    if (this.#running === running) this.#running = undefined;
    const reason = `${name}: ${running.reason ?? `its process ended (${end})`}`;
    const isExpected = this.#isClosed || running.isUnloaded;
    fail(new UpstreamFailure('server', reason));
    if (!isExpected) {
      this.#deps.log.warn({ model: name, end, error_output: errorOutput }, `a local model failed: ${reason}`);
    }
    // Set after the loading, too: a model that takes too much memory would be loaded over and over.
    if (running.reason) this.#failure = { reason, until: performance.now() + failedMs };
    for (const { exchange, hasHead } of running.asked.values()) {
      if (hasHead) exchange.onResponseError(null, new Error(reason));
      else refuse(exchange, 503, reason);
      this.#uncountRequest();
    }
    running.asked.clear();
  }

  /** The model stays in memory until the request is done, even if the idle time was almost over. */
  #countRequest(): void {
    this.#open += 1;
    clearTimeout(this.#idleTimer);
  }

  /** After the last one, the idle time starts. */
  #uncountRequest(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#idleTimer = setTimeout(() => this.#unload(), this.#deps.settings.idleMs);
    this.#idleTimer.unref();
  }

  /** The next request starts another process, even if this one has not ended yet. */
  #unload(): void {
    if (this.#running === undefined) return;
    this.#running.isUnloaded = true;
    this.#running.child.kill('SIGKILL');
    this.#running = undefined;
  }
}

function post({ child }: Running, message: ToModel): void {
  // A process that just died is noticed by its end.
  if (child.connected) child.send(message, () => {});
}

async function checkFile({
  path,
  bytes,
  memoryBytes,
}: {
  path: string;
  bytes: number | undefined;
  memoryBytes: number;
}): Promise<void> {
  const { size } = await stat(path).catch(() => {
    throw new Error('its file is gone: add it again');
  });
  if (bytes !== undefined && size !== bytes) throw new Error('its file has changed: add it again');
  if (size > memoryBytes) {
    const [needs, has] = [size, memoryBytes].map((each) => Math.ceil(each / 1024 ** 2));
    throw new Error(`its file has ${needs} MB, more than the ${has} MB of engine.memory_mb`);
  }
}

/** The message of an error as `refuse` writes it. */
function reasonIn(text: string): string {
  return (parseObject(text) as { error: { message: string } }).error.message;
}

/** Answers a request that the model does not see. */
function refuse(exchange: Exchange, status: number, message: string): void {
  const body = JSON.stringify({ error: { message, type: 'server_error', code: null, param: null } });
  exchange.onResponseStart(controllerOf(), status, { 'content-type': 'application/json' });
  exchange.onResponseData(controllerOf(), Buffer.from(body));
  exchange.onResponseEnd();
}

/** What an exchange uses of undici's controller. Text comes as slowly as a model writes, so that it is never paused. */
function controllerOf(onAbort: () => void = () => {}): Parameters<Exchange['onRequestStart']>[0] {
  return {
    aborted: false,
    paused: false,
    reason: null,
    rawHeaders: [],
    rawTrailers: [],
    abort: onAbort,
    pause: () => {},
    resume: () => {},
  };
}
