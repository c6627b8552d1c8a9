import type { AutopilotTool, runAutopilot } from '../../../shared/contract/autopilots.ts';
import type { Body } from '../../../shared/contract/endpoint.ts';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import { ApiError } from '../../../shared/errors.ts';
import { wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { responseText } from '../../../shared/formats/response-text.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { JsonObject } from '../../../shared/json/json-object.ts';
import { type ActingUser, type AutopilotCaller, type Caller, workspaceOf } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import { type World, within } from '../../base/world.ts';
import { type RunRecord, type ThreadRun, type Threads, titleOf } from '../threads/index.ts';
import type { Autopilots } from './autopilots.ts';
import { HttpTools, type HttpToolsDeps } from './http-tools.ts';
import { runLoop } from './run-loop.ts';
import { callerFor, type Runner, runnerOf } from './runner.ts';
import type { AutopilotRecord, AutopilotsStore, OccurrenceRecord } from './store.ts';

export interface AutopilotRunsDeps extends HttpToolsDeps {
  autopilots: Pick<Autopilots, 'find'>;
  threads: Threads;
  notRun: AutopilotsStore['notRun'];
  makeId: MakeId;
  world: Pick<World, 'sleep'>;
  /** Makes a model call in the Responses format as the caller. Fails with an ApiError. */
  respond(
    body: JsonObject,
    call: { caller: AutopilotCaller; requestId: string; signal: AbortSignal },
  ): Promise<ResponseResource>;
  /** The first fault in a tool's arguments, as a sentence; undefined if they are valid. */
  faultIn(name: AutopilotTool, value: unknown): string | undefined;
  /** Whether a user may reach private addresses. */
  mayUsePrivate(user: ActingUser): Promise<boolean>;
  settings: {
    readonly defaultModel: string | undefined;
    /** The most runs at the same time. */
    readonly backgroundRunsMax: number;
  };
  log: Pick<Log, 'warn'>;
}

/** A run, and the text of its answer; null until it has completed. */
export interface ShownRun {
  run: RunRecord;
  output: string | null;
}

interface RunCall {
  caller: Caller;
  requestId: string;
  endpoint: string;
}

/** A run of a schedule. */
interface ScheduledRun {
  runner: Runner;
  /** The id of the run. */
  runId: string;
  dueAt: number;
  input: string;
  maxSpendMsats: number | undefined;
  /** Called if the run fails; not when it is cancelled. */
  onFailed: (run: Pick<ThreadRun, 'id' | 'threadId'>, error: { code: string; message: string }) => void;
}

type RunRequest = Body<typeof runAutopilot>;

const retryAfterSeconds = 10;
/** The endpoint of runs that no request started. */
const schedulePath = '';
/** After a drain's deadline, runs may take this long to store their end. */
const endGraceMs = 3_000;

/**
 * Runs of autopilots: model calls that may use tools, as runs of threads. A run that a stopped daemon left behind is ended
 * with the runs of threads; what it paid is settled with the payments.
 */
export class AutopilotRuns {
  readonly #deps: AutopilotRunsDeps;
  readonly #running = new Map<string, ThreadRun>();
  readonly #draining = new AbortController();
  /** Number of runs, including those about to start. */
  #taken = 0;

  constructor(deps: AutopilotRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a run, which continues after this resolves. Fails with `not_found`, with `out_of_scope` for a key that may not
   * call models in threads, with `conflict` for an autopilot that is not active or a busy chat, and with `rate_limited`
   * when too many are running.
   */
  async start(call: RunCall, reference: string, request: RunRequest): Promise<ShownRun> {
    wellFormedMembers(request);
    const autopilot = await this.#deps.autopilots.find(call.caller, reference);
    const { requestId, endpoint } = call;
    const { chatId, maxSpendMsats } = request;
    const runner = runnerOf(call.caller);
    const input = itemsOf(request.input);
    const run = await this.#start(autopilot, { runner, requestId, endpoint, input, chatId, maxSpendMsats });
    return await this.#shown(call.caller, autopilot, run.id);
  }

  /** Starts a run in a new chat, as `start` does. */
  async startScheduled(autopilot: AutopilotRecord, scheduled: ScheduledRun): Promise<ThreadRun> {
    return await this.#start(autopilot, {
      ...scheduled,
      requestId: this.#deps.makeId('req'),
      endpoint: schedulePath,
      input: itemsOf(scheduled.input),
      scheduledAt: scheduled.dueAt,
    });
  }

  async #start(autopilot: AutopilotRecord, start: RunStart): Promise<ThreadRun> {
    const { threads, settings } = this.#deps;
    const { runner, runId, input, scheduledAt, requestId, endpoint } = start;
    requireActive(autopilot);
    const model = autopilot.policy.model ?? settings.defaultModel;
    if (model === undefined) {
      throw new ApiError('conflict', { message: 'The autopilot has no model: set `policy.model`.' });
    }
    if (this.#draining.signal.aborted) throw interrupted();
    const { backgroundRunsMax } = settings;
    if (this.#taken >= backgroundRunsMax) throw tooMany(backgroundRunsMax);
    const title = titleOf(String(input.find(({ role }) => role === 'user')?.content ?? ''));
    const { id, configVersion } = autopilot;
    const caller = callerFor(autopilot, runner);
    this.#taken += 1;
    let run: ThreadRun;
    try {
      const threadId = start.chatId ?? (await threads.create(caller, title, id)).id;
      run = await threads.start({
        caller,
        requestId,
        threadId,
        param: 'chatId',
        endpoint,
        model,
        title,
        autopilot: { id, configVersion, scheduledAt },
        runId,
      });
    } catch (error) {
      this.#taken -= 1;
      throw error;
    }
    this.#running.set(run.id, run);
    void run.ended.then(() => {
      this.#running.delete(run.id);
      this.#taken -= 1;
    });
    void this.#run(run, { ...start, autopilot, model });
    return run;
  }

  /** Runs the autopilot that a chat is addressed to. Fails with `conflict` for a chat without one. */
  async startInChat(call: RunCall, chatId: string, request: Omit<RunRequest, 'chatId'>): Promise<ShownRun> {
    const { autopilotId } = await this.#deps.threads.get(workspaceOf(call.caller), chatId);
    if (autopilotId === null) {
      throw new ApiError('conflict', { message: 'This chat is not addressed to an autopilot.' });
    }
    return await this.start(call, autopilotId, { ...request, chatId });
  }

  /** Those in chats of the caller's workspace, and what its schedule did not run there; newest first. */
  async list(caller: Caller, reference: string, limit: number): Promise<(RunRecord | OccurrenceRecord)[]> {
    const { autopilots, threads, notRun } = this.#deps;
    const { id } = await autopilots.find(caller, reference);
    const page = { workspaceId: workspaceOf(caller), limit };
    const [runs, others] = await Promise.all([threads.reads.runsBy(id, page), notRun(id, page)]);
    return [...runs, ...others].sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit);
  }

  async get(caller: Caller, reference: string, runId: string): Promise<ShownRun> {
    return await this.#shown(caller, await this.#deps.autopilots.find(caller, reference), runId);
  }

  /** Cancels a run and waits for its end; does nothing for a run that has ended. */
  async cancel(caller: Caller, reference: string, runId: string): Promise<ShownRun> {
    const autopilot = await this.#deps.autopilots.find(caller, reference);
    const { run } = await this.#shown(caller, autopilot, runId);
    if (run.status === 'running') await this.#deps.threads.stopRun(workspaceOf(caller), run, endGraceMs);
    return await this.#shown(caller, autopilot, runId);
  }

  /** Waits for runs until the deadline, then ends them as failed. */
  async drain(deadlineMs: number): Promise<void> {
    const ended = () => Promise.all([...this.#running.values()].map((run) => run.ended));
    await within(this.#deps.world, ended(), deadlineMs);
    this.#draining.abort('draining');
    await within(this.#deps.world, ended(), endGraceMs);
  }

  /** Never rejects. */
  async #run(run: ThreadRun, { autopilot, runner, input, model, ...start }: StartedRun): Promise<void> {
    const { autopilots, makeId, respond, faultIn, mayUsePrivate, log } = this.#deps;
    const signal = AbortSignal.any([run.stopped, this.#draining.signal, runner.revoked]);
    const caller = callerFor(autopilot, runner);
    try {
      const tools = new HttpTools(this.#deps, {
        caller,
        signal,
        mayPay: runner.mayPay,
        mayBePrivate: await mayUsePrivate(runner),
        maxSpendMsat: start.maxSpendMsats,
        note: (type, payload) => run.note(type, payload),
      });
      const earlier = await run.earlier();
      const output = await runLoop(
        {
          makeId,
          faultIn,
          tools,
          run,
          signal,
          log,
          respond: (current, body, requestId) =>
            respond(body, { caller: callerFor(current, runner), requestId, signal }),
          current: async () => requireActive(await autopilots.find(caller, autopilot.id)),
        },
        { model, input: [...earlier, ...input] },
      );
      await run.complete({ input: input.map((item) => ({ id: makeId('msg'), ...item })), output });
    } catch (error) {
      const failure = this.#failure(error, { signal, runId: run.id });
      await run.end(failure);
      if (!run.stopped.aborted) start.onFailed?.(run, failure);
    }
  }

  #failure(error: unknown, { signal, runId }: { signal: AbortSignal; runId: string }) {
    if (signal.aborted) {
      const reason = signal.reason instanceof ApiError ? signal.reason : interrupted();
      return { code: reason.code, message: reason.message };
    }
    if (error instanceof ApiError) return { code: error.code, message: error.message };
    this.#deps.log.warn({ err: error, run_id: runId }, 'a run of an autopilot failed');
    const { code, message } = new ApiError('server_error');
    return { code, message };
  }

  async #shown(caller: Caller, { id }: AutopilotRecord, runId: string): Promise<ShownRun> {
    const { reads } = this.#deps.threads;
    const [run] = await reads.runsBy(id, { workspaceId: workspaceOf(caller), limit: 1, runId });
    if (!run) throw notFound('run', runId);
    if (run.status !== 'completed') return { run, output: null };
    const added = await reads.messagesOf(run.threadId, run.id);
    const items = added.filter(({ isOutput }) => isOutput).map(({ item }) => JSON.parse(item) as JsonObject);
    // What the model wrote before it called a tool is no answer yet.
    const lastCall = items.findLastIndex(({ type }) => type === 'function_call_output');
    return { run, output: responseText(items.slice(lastCall + 1)) };
  }
}

/** What a run is started with. */
interface RunStart extends Partial<Pick<ScheduledRun, 'runId' | 'onFailed'>> {
  runner: Runner;
  requestId: string;
  endpoint: string;
  input: JsonObject[];
  chatId?: string | undefined;
  maxSpendMsats: number | undefined;
  scheduledAt?: number;
}

interface StartedRun extends RunStart {
  autopilot: AutopilotRecord;
  model: string;
}

function itemsOf(input: RunRequest['input']): JsonObject[] {
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  return messages.map(({ role, content }) => ({ type: 'message', role, content }));
}

function requireActive(autopilot: AutopilotRecord): AutopilotRecord {
  if (autopilot.status === 'active') return autopilot;
  throw new ApiError('conflict', {
    message: `The autopilot is \`${autopilot.status}\`; only active autopilots can run.`,
  });
}

function interrupted(): ApiError {
  return new ApiError('unavailable', { message: 'The daemon stopped before this run was finished.' });
}

function tooMany(runsMax: number): ApiError {
  return new ApiError('rate_limited', {
    message: `The maximum number of autopilots (${runsMax}) is running; try again when one has ended.`,
    retryAfterSeconds,
  });
}
