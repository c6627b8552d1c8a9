import type { AutopilotTool, runAutopilot } from '../../../shared/contract/autopilots.ts';
import type { Body } from '../../../shared/contract/endpoint.ts';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { wellFormedMembers } from '../../../shared/input-faults.ts';
import type { JsonObject } from '../../../shared/json-object.ts';
import { notFound } from '../../../shared/not-found.ts';
import { responseText } from '../../../shared/response-text.ts';
import { actingUser, type Caller, type Identified, workspaceOf } from '../../handler.ts';
import type { Log } from '../../log.ts';
import { type World, within } from '../../world.ts';
import { type RunRecord, type ThreadRun, type Threads, titleOf } from '../threads/index.ts';
import type { Autopilots } from './autopilots.ts';
import { HttpTools, type HttpToolsDeps } from './http-tools.ts';
import { mayPay } from './payment-permission.ts';
import { runLoop } from './run-loop.ts';
import type { AutopilotRecord } from './store.ts';

export interface AutopilotRunsDeps extends HttpToolsDeps {
  autopilots: Pick<Autopilots, 'find'>;
  threads: Threads;
  makeId: MakeId;
  world: Pick<World, 'sleep'>;
  /** Makes a model call in the Responses format as the caller. Fails with an ApiError. */
  respond(
    body: JsonObject,
    call: { caller: Identified; requestId: string; signal: AbortSignal },
  ): Promise<ResponseResource>;
  /** The first fault in a tool's arguments, as a sentence; undefined if they are valid. */
  faultIn(name: AutopilotTool, value: unknown): string | undefined;
  /** Whether a caller may reach private addresses. */
  mayUsePrivate(caller: Identified): Promise<boolean>;
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

type RunRequest = Body<typeof runAutopilot>;

const retryAfterSeconds = 10;
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
    const { threads } = this.#deps;
    const autopilot = await this.#deps.autopilots.find(call.caller, reference);
    requireActive(autopilot);
    const model = autopilot.policy.model ?? this.#deps.settings.defaultModel;
    if (model === undefined) {
      throw new ApiError('conflict', { message: 'The autopilot has no model: set `policy.model`.' });
    }
    const caller = modelCaller(call.caller);
    const { backgroundRunsMax } = this.#deps.settings;
    if (this.#taken >= backgroundRunsMax) throw tooMany(backgroundRunsMax);
    const input = itemsOf(request.input);
    const title = titleOf(String(input.find(({ role }) => role === 'user')?.content ?? ''));
    const { requestId, endpoint } = call;
    const { id, configVersion } = autopilot;
    this.#taken += 1;
    let run: ThreadRun;
    try {
      const threadId = request.chatId ?? (await threads.create(caller, title, id)).id;
      run = await threads.start({
        caller,
        requestId,
        threadId,
        param: 'chatId',
        endpoint,
        model,
        title,
        autopilot: { id, configVersion },
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
    const shown = await this.#shown(caller, autopilot, run.id);
    void this.#run(run, { autopilot, caller, call, input, model, request });
    return shown;
  }

  /** Runs the autopilot that a chat is addressed to. Fails with `conflict` for a chat without one. */
  async startInChat(call: RunCall, chatId: string, request: Omit<RunRequest, 'chatId'>): Promise<ShownRun> {
    const { autopilotId } = await this.#deps.threads.get(workspaceOf(call.caller), chatId);
    if (autopilotId === null) {
      throw new ApiError('conflict', { message: 'This chat is not addressed to an autopilot.' });
    }
    return await this.start(call, autopilotId, { ...request, chatId });
  }

  /** Those in chats of the caller's workspace, newest first. */
  async list(caller: Caller, reference: string, limit: number): Promise<RunRecord[]> {
    const { id } = await this.#deps.autopilots.find(caller, reference);
    return await this.#deps.threads.reads.runsBy(id, { workspaceId: workspaceOf(caller), limit });
  }

  async get(caller: Caller, reference: string, runId: string): Promise<ShownRun> {
    return await this.#shown(caller, await this.#deps.autopilots.find(caller, reference), runId);
  }

  /** Cancels a run and waits for its end; does nothing for a run that has ended. */
  async cancel(caller: Caller, reference: string, runId: string): Promise<ShownRun> {
    const autopilot = await this.#deps.autopilots.find(caller, reference);
    await this.#shown(caller, autopilot, runId);
    const run = this.#running.get(runId);
    run?.stop();
    if (run) await within(this.#deps.world, run.ended, endGraceMs);
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
  async #run(run: ThreadRun, { autopilot, caller, call, input, model, request }: StartedRun): Promise<void> {
    const { autopilots, makeId, respond, faultIn, mayUsePrivate, log } = this.#deps;
    const signal = AbortSignal.any([run.stopped, this.#draining.signal, caller.revoked]);
    try {
      const tools = new HttpTools(this.#deps, {
        caller,
        signal,
        mayPay: mayPay(call.caller),
        mayBePrivate: await mayUsePrivate(caller),
        maxSpendMsat: request.maxSpendMsats,
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
          respond: (body, requestId) => respond(body, { caller, requestId, signal }),
          current: async () => requireActive(await autopilots.find(call.caller, autopilot.id)),
        },
        { model, input: [...earlier, ...input] },
      );
      await run.complete({ input: input.map((item) => ({ id: makeId('msg'), ...item })), output });
    } catch (error) {
      await run.end(this.#failure(error, { signal, runId: run.id }));
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

interface StartedRun {
  autopilot: AutopilotRecord;
  /** Makes the model calls. */
  caller: Identified;
  /** The request that started the run. */
  call: RunCall;
  input: JsonObject[];
  model: string;
  request: RunRequest;
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

/** The caller as model calls know it: an access token acts as its user. */
function modelCaller(caller: Caller): Identified {
  const { userId, workspaceId, revoked } = actingUser(caller);
  if (caller.kind === 'token')
    return { kind: 'login', loginId: caller.tokenId, userId, workspaceId, revoked };
  if (caller.kind !== 'key') return caller as Identified;
  if (caller.scopes.has('responses')) return caller;
  throw new ApiError('out_of_scope', { message: 'The key lacks the scope `responses`.' });
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
