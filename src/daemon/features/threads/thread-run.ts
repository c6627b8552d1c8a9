import { ApiError, failures, isErrorCode } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { haveTooManyContainers, requestShape } from '../../../shared/json/json-text.ts';
import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import type { Log } from '../../base/log.ts';
import type { UsageRecord } from '../metering/index.ts';
import type { NewMessage, NewRunEvent, RunEnd, RunRecord, RunUsage, ThreadsStore } from './threads-store.ts';

/** The items that a run adds to its thread, in the Responses format. */
export interface Turn {
  input: readonly Record<string, unknown>[];
  output: readonly Record<string, unknown>[];
}

interface RunDeps {
  store: Pick<ThreadsStore, 'endRun' | 'noteEvent' | 'conversation'>;
  makeId: MakeId;
  now: () => number;
  log: Pick<Log, 'warn'>;
  /** Called after each write that followers should read. */
  onWritten: (threadId: string) => void;
}

/** The usage of one model call of a run. */
export interface CountedCall {
  model: string;
  provider: string | null;
  usage: RunUsage;
}

/**
 * A running model call in a thread, and an observer of this call; or a run of an autopilot, which counts its calls itself.
 * Its messages are stored with its end, or not at all.
 */
export class ThreadRun {
  readonly id: string;
  readonly threadId: string;
  readonly #deps: RunDeps;
  readonly #record: Pick<RunRecord, 'requestId' | 'model' | 'meta'>;
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #usage: UsageRecord | undefined;
  #counted: CountedCall | undefined;
  #ending: Promise<void> | undefined;
  #isUnfinished = false;

  constructor(deps: RunDeps, record: Pick<RunRecord, 'id' | 'threadId' | 'requestId' | 'model' | 'meta'>) {
    this.id = record.id;
    this.threadId = record.threadId;
    this.#deps = deps;
    this.#record = record;
  }

  /** Aborted with the reason `stopped` when a user stops the run. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Resolves when the thread is free for its next run. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether it has ended, but its end could not be stored: the thread is not free then. */
  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  stop(): void {
    this.#stop.abort('stopped');
  }

  /** The items that the run continues. A summary written by a model replaces everything before it. */
  async earlier(): Promise<Record<string, unknown>[]> {
    const all = await this.#deps.store.conversation(this.threadId);
    const summary = all.findLastIndex(({ item, isOutput }) => isOutput && isSummary(item));
    const texts = all.slice(Math.max(0, summary)).map(({ item }) => item);
    if (haveTooManyContainers(texts)) {
      throw new ApiError('context_length_exceeded', {
        message: `The messages of the thread have more than ${requestShape.containersMax} objects and arrays. Compact it, or start another.`,
      });
    }
    return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
  }

  /** Records that a provider is asked, without waiting for the write. */
  onRouted({ model, provider, attempt }: { model: string; provider: string; attempt: number }): void {
    this.note('model_stream_started', { model, provider, attempt });
  }

  /** Records an event, without waiting for the write. */
  note(type: string, payload: Record<string, unknown>): void {
    if (this.#ending) return;
    const { store, now, log, onWritten } = this.#deps;
    const event = this.#event(type, payload);
    store.noteEvent(this.threadId, this.id, event, now()).then(
      () => onWritten(this.threadId),
      (error: unknown) => log.warn({ err: error, run_id: this.id }, 'an event of a run could not be stored'),
    );
  }

  onSettled(usage: UsageRecord): void {
    // The run may include further calls, such as one that compacts the conversation.
    if (usage.requestId === this.#record.requestId) this.#usage = usage;
  }

  /** Adds what one of several model calls used. */
  count({ model, provider, usage }: CountedCall): void {
    const before = this.#counted?.usage;
    this.#counted = { model, provider, usage: before ? sumOf(before, usage) : usage };
  }

  /** Completes the run with its messages; `secrets` are those of its call. Never rejects, as the answer must reach its caller even if this fails. */
  complete({ input, output }: Turn, secrets?: KnownSecrets): Promise<void> {
    const { makeId } = this.#deps;
    const messages = [
      ...input.map((item) => ({ id: makeId('msg'), isOutput: false, item: JSON.stringify(item) })),
      ...output.map((item) => ({ id: makeId('msg'), isOutput: true, item: JSON.stringify(item) })),
    ];
    return this.#end('completed', null, messages, secrets);
  }

  /** Ends the run without messages, unless it has ended. Never rejects. */
  end(failure?: { code: string; message: string }): Promise<void> {
    if (this.#stop.signal.aborted || this.#usage?.status === 'canceled')
      return this.#end('cancelled', null, []);
    return this.#end('failed', failure ?? failureOf(this.#usage?.errorCode), []);
  }

  #end(
    status: RunEnd['status'],
    error: RunRecord['error'],
    messages: NewMessage[],
    secrets?: KnownSecrets,
  ): Promise<void> {
    this.#ending ??= this.#write(status, error, messages, secrets).finally(() => this.#ended.resolve());
    return this.#ending;
  }

  async #write(
    status: RunEnd['status'],
    error: RunRecord['error'],
    messages: NewMessage[],
    secrets?: KnownSecrets,
  ): Promise<void> {
    const { store, now, log, onWritten } = this.#deps;
    const usage = this.#usage;
    const hasFinished = usage?.provider != null && status === 'completed';
    const end: RunEnd = {
      run: {
        id: this.id,
        threadId: this.threadId,
        ...(this.#counted ?? {
          model: usage?.model ?? this.#record.model,
          provider: usage?.provider ?? null,
          usage: usage
            ? { tokens: usage.tokens, cost: usage.cost?.total ?? null, charged: usage.charged }
            : null,
        }),
        meta: {
          ...this.#record.meta,
          response_id: usage?.responseId ?? null,
          finish_reason: usage?.trace?.finishReason ?? null,
        },
        error,
      },
      status,
      messages,
      events: [
        ...(hasFinished ? [this.#event('model_finished', { ...usage.tokens })] : []),
        this.#event(`run_${status}`, error ? { error } : { messages: messages.map(({ id }) => id) }),
      ],
      at: now(),
    };
    try {
      await store.endRun(end, secrets);
      onWritten(this.threadId);
    } catch (cause) {
      this.#isUnfinished = true;
      log.warn({ err: cause, run_id: this.id }, 'the end of a run could not be stored');
    }
  }

  #event(type: string, payload: Record<string, unknown>): NewRunEvent {
    return { id: this.#deps.makeId('evt'), type, payload };
  }
}

function sumOf(a: RunUsage, b: RunUsage): RunUsage {
  const tokens = { ...a.tokens };
  for (const name of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const)
    tokens[name] += b.tokens[name];
  return {
    tokens,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
    charged: a.charged + b.charged,
  };
}

function failureOf(code: string | null | undefined): { code: string; message: string } {
  const known = code && isErrorCode(code) ? code : 'server_error';
  return { code: known, message: failures[known].message };
}

function isSummary(item: string): boolean {
  return item.includes('"compaction"') && (JSON.parse(item) as { type?: unknown }).type === 'compaction';
}
