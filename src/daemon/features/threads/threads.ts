import { ApiError } from '../../../shared/errors.ts';
import { wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Changes } from '../../base/changes.ts';
import { type Caller, credentialId, type Identified, workspaceOf } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import { pollUntil, type World, within } from '../../base/world.ts';
import { ThreadFollowers } from './followers.ts';
import { ThreadRun } from './thread-run.ts';
import type {
  RunEventRecord,
  RunningAutopilot,
  RunRecord,
  ThreadRecord,
  ThreadsStore,
} from './threads-store.ts';

export interface ThreadsDeps {
  store: ThreadsStore;
  changes: Changes;
  world: Pick<World, 'now' | 'sleep'>;
  makeId: MakeId;
  log: Pick<Log, 'warn'>;
  /** Limits of one thread; 10,000 messages and 32 Mi characters of JSON by default. */
  bounds?: { messagesMax: number; charactersMax: number };
}

const agentThreadsMax = 1000;
const boundsDefault = { messagesMax: 10_000, charactersMax: 32 * 1024 * 1024 };
/** A stopped run ends immediately, unless its client does not read the stream. */
const stopWithinMs = 10_000;

const interrupted = {
  code: 'server_error',
  message: 'The daemon stopped before this run was finished.',
};

/** A model call that names a thread, or a run of an autopilot. */
export interface ThreadCall {
  caller: Identified;
  requestId: string;
  threadId: string;
  /** The member that names it: `service.thread`, `conversation` or `chatId`. */
  param: string;
  endpoint: string;
  model: string;
  /** For a thread without a title. */
  title: string | null;
  autopilot?: RunningAutopilot;
  /** The id of the run; a new one by default. */
  runId?: string | undefined;
}

/** A thread, and whether it has a current run. */
export type ShownThread = ThreadRecord & { isWorking: boolean };

/** Stored conversations and the model calls in them, one at a time per thread. */
export class Threads {
  readonly #deps: ThreadsDeps;
  readonly #followers: ThreadFollowers;
  readonly #runs = new Map<string, ThreadRun>();
  /** Runs that are over, but whose end could not be stored. */
  readonly #unfinished = new Set<string>();

  constructor(deps: ThreadsDeps) {
    this.#deps = deps;
    this.#followers = new ThreadFollowers(deps.store);
    deps.changes.subscribe('stop', ({ id }) => this.#runs.get(id)?.stop());
  }

  /** A new thread of the caller's workspace. Fails with `conflict` for an agent that has too many. */
  async create(
    caller: Caller,
    title: string | null,
    autopilotId: string | null = null,
  ): Promise<ShownThread> {
    const { store, makeId } = this.#deps;
    const at = this.#now();
    const counts = { messages: 0, characters: 0 };
    const thread = {
      id: makeId('th'),
      workspaceId: workspaceOf(caller),
      title: wellFormed(title, 'title'),
      runId: null,
      ...counts,
      createdAt: at,
      updatedAt: at,
      autopilotId,
    };
    // Agents sign up by themselves, and threads cost nothing.
    if (await store.create(thread, caller.kind === 'agent' ? agentThreadsMax : undefined))
      return this.#shown(thread);
    throw new ApiError('conflict', {
      message: `An agent can have ${agentThreadsMax} threads. Delete some first.`,
    });
  }

  /** Fails with `not_found` when the workspace has no such thread. */
  async get(workspaceId: string, id: string): Promise<ShownThread> {
    const thread = await this.#deps.store.byId(workspaceId, id);
    if (!thread) throw notFound('thread', id);
    return this.#shown(thread);
  }

  async list(
    workspaceId: string,
    page: { limit: number; after: string | undefined },
  ): Promise<ShownThread[]> {
    return (await this.#deps.store.list(workspaceId, page)).map((thread) => this.#shown(thread));
  }

  async rename(workspaceId: string, id: string, title: string | null): Promise<ShownThread> {
    const { store } = this.#deps;
    if (!(await store.rename(workspaceId, id, wellFormed(title, 'title'), this.#now())))
      throw notFound('thread', id);
    return await this.get(workspaceId, id);
  }

  /** Stops the current run, and deletes the thread and its contents. */
  async remove(workspaceId: string, id: string): Promise<void> {
    await this.stop(workspaceId, id);
    if (!(await this.#deps.store.remove(workspaceId, id))) throw notFound('thread', id);
    this.#followers.wake(id);
  }

  /** Stops the current run, if any; what was generated is charged. */
  async stop(workspaceId: string, id: string): Promise<ShownThread> {
    const { runId } = await this.get(workspaceId, id);
    if (runId !== null) await this.stopRun(workspaceId, { id: runId, threadId: id }, stopWithinMs);
    return await this.get(workspaceId, id);
  }

  /** Stops a current run, whichever daemon runs it, and waits for its end. */
  async stopRun(
    workspaceId: string,
    { id, threadId }: Pick<RunRecord, 'id' | 'threadId'>,
    withinMs: number,
  ): Promise<void> {
    const { store, changes, world } = this.#deps;
    const run = this.#runs.get(id);
    if (run) {
      run.stop();
      await within(world, run.ended, withinMs);
    } else if (!this.#unfinished.has(id)) {
      const isOver = async () => (await store.byId(workspaceId, threadId))?.runId !== id;
      if (await isOver()) return;
      await changes.announce([{ topic: 'stop', id }]);
      await pollUntil(world, { withinMs }, isOver);
    }
  }

  /**
   * Starts a run. Fails with `not_found`, with `conflict` while the thread has another run, with `out_of_scope` for a key
   * without the scope `threads`, and with `context_length_exceeded` for a full thread.
   */
  async start(call: ThreadCall): Promise<ThreadRun> {
    const { caller, threadId, param, requestId, model, endpoint, title, autopilot, runId } = call;
    if (caller.kind === 'key' && !caller.scopes.has('threads')) {
      throw new ApiError('out_of_scope', { param, message: 'The key lacks the scope `threads`.' });
    }
    const { store, makeId, bounds = boundsDefault } = this.#deps;
    const meta = {
      request_id: requestId,
      endpoint,
      key: credentialId(caller),
      ...(autopilot?.scheduledAt !== undefined && { scheduled_at: isoTime(autopilot.scheduledAt) }),
    };
    const record = { id: runId ?? makeId('run'), threadId, requestId, model, meta, startedAt: this.#now() };
    const run = new ThreadRun(this.#runDeps(), record);
    const event = { id: makeId('evt'), type: 'run_started', payload: { model, request_id: requestId } };
    const start = {
      workspaceId: caller.workspaceId,
      run: record,
      event,
      title,
      bounds,
      ...(autopilot && { autopilot }),
    };
    this.#runs.set(run.id, run);
    void run.ended.then(() => {
      this.#runs.delete(run.id);
      if (run.isUnfinished) this.#unfinished.add(run.id);
    });
    try {
      let outcome = await store.startRun(start);
      if (outcome === 'busy' && (await this.#freed(caller.workspaceId, threadId)))
        outcome = await store.startRun(start);
      if (outcome !== 'started') throw refusal(outcome, threadId, param);
    } catch (error) {
      this.#runs.delete(run.id);
      // It may be stored nevertheless.
      if (!(error instanceof ApiError)) this.#unfinished.add(run.id);
      throw error;
    }
    this.#followers.wake(threadId);
    return run;
  }

  /** Ends the runs left by a daemon that is gone. */
  async takeOver(daemon: number): Promise<number> {
    const left = await this.#deps.store.running(daemon);
    for (const run of left) await this.#interrupt(run);
    return left.length;
  }

  /** Yields the events of a thread after a sequence, until a signal is aborted or the thread is deleted. */
  follow(
    from: { workspaceId: string; id: string; after: number },
    signals: readonly AbortSignal[],
  ): AsyncGenerator<RunEventRecord[]> {
    return this.#followers.follow(from, signals);
  }

  /** To be called when other daemons may have written events. */
  readAgain(): void {
    this.#followers.wakeAll();
  }

  /** Ends the streams of all followers, present and future. */
  close(): void {
    this.#followers.close();
  }

  /** For reads that need only the store. */
  get reads(): Pick<ThreadsStore, 'messages' | 'messagesOf' | 'runs' | 'runsBy' | 'runOf' | 'events'> {
    return this.#deps.store;
  }

  #now(): number {
    return this.#deps.world.now();
  }

  #shown(thread: ThreadRecord): ShownThread {
    return { ...thread, isWorking: thread.runId !== null && !this.#unfinished.has(thread.runId) };
  }

  /** Frees a thread whose run has ended here without a stored end; false for any other run. */
  async #freed(workspaceId: string, threadId: string): Promise<boolean> {
    const { store } = this.#deps;
    const thread = await store.byId(workspaceId, threadId);
    if (!thread) return true;
    if (thread.runId === null) return true;
    if (!this.#unfinished.has(thread.runId)) return false;
    const run = await store.runOf(threadId, thread.runId);
    if (run) await this.#interrupt(run);
    return run !== undefined;
  }

  async #interrupt(run: Parameters<ThreadsStore['endRun']>[0]['run']): Promise<void> {
    const { store, makeId } = this.#deps;
    const event = { id: makeId('evt'), type: 'run_failed', payload: { error: interrupted } };
    await store.endRun({
      run: { ...run, error: interrupted },
      status: 'failed',
      messages: [],
      events: [event],
      at: this.#now(),
    });
    this.#unfinished.delete(run.id);
    this.#followers.wake(run.threadId);
  }

  #runDeps() {
    const { store, makeId, log } = this.#deps;
    const onWritten = (threadId: string) => this.#followers.wake(threadId);
    return { store, makeId, log, now: () => this.#now(), onWritten };
  }
}

function refusal(outcome: 'busy' | 'missing' | 'full', threadId: string, param: string): ApiError {
  if (outcome === 'missing') return notFound('thread', threadId, param);
  if (outcome === 'full') {
    const message = 'The thread is full; continue in a new one.';
    return new ApiError('context_length_exceeded', { param, message });
  }
  const message = 'The thread has a run in progress: wait for its end, or stop it.';
  return new ApiError('conflict', { param, message });
}
