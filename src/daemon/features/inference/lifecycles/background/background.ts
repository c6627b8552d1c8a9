import { ApiError } from '../../../../../shared/errors.ts';
import { invalid, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { notFound } from '../../../../../shared/faults/not-found.ts';
import { RelayReply, StreamReply } from '../../../../base/handler.ts';
import { pollUntil, within } from '../../../../base/world.ts';
import { withIds } from '../../stored/history.ts';
import { type RespondCall, readRequest } from '../request/read-request.ts';
import { threadCallOf } from '../request/respond.ts';
import { storedCharactersMax } from '../request/response-session.ts';
import { inThread, threadIn } from '../thread/in-thread.ts';
import type { BackgroundResponse } from './background-store.ts';
import { interruptedResponse } from './closing-events.ts';
import { type Following, follow } from './follow.ts';
import { type BackgroundDeps, type BackgroundRun, startRun } from './run.ts';

const retryAfterSeconds = 10;
/** After a drain's deadline, canceled runs may take this long to store their end. */
const endGraceMs = 3_000;
/** A canceled response ends immediately, unless its daemon is not reached. */
const stopWithinMs = 10_000;

/** Responses that are generated without a waiting client. */
export class Background {
  readonly #deps: BackgroundDeps;
  readonly #runs = new Map<string, BackgroundRun>();
  /** Responses whose run is over, but whose end could not be stored. */
  readonly #unfinished = new Set<string>();
  /** Number of runs, including those about to start. */
  #taken = 0;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
    deps.changes.subscribe('stop', ({ id }) => this.#runs.get(id)?.end('cancelled'));
  }

  /**
   * Starts a response and immediately returns the queued object, or a stream that can be left and resumed. Fails with
   * `rate_limited` when too many are running.
   */
  async start(call: RespondCall): Promise<RelayReply | StreamReply> {
    if (call.body.store === false)
      throw invalid('background', 'A background response is always stored; remove `store: false`.');
    const named = threadIn(call.body);
    if (named === undefined) return this.#start(call);
    // Unlike other runs of threads, this one does not end with its connection.
    return inThread(this.#deps, { named, call: threadCallOf(call), isDetached: true }, ({ run }) =>
      this.#start({ ...call, run }),
    );
  }

  async #start(call: RespondCall): Promise<RelayReply | StreamReply> {
    const request = await readRequest(this.#deps, call);
    const input = JSON.stringify(withIds(request.ownItems, this.#deps.makeId));
    if (input.length > storedCharactersMax)
      throw invalid('background', 'A background response is stored, and this input is too long to store.');
    const { backgroundRunsMax } = this.#deps.settings;
    if (this.#taken >= backgroundRunsMax) throw tooMany(backgroundRunsMax);
    this.#taken += 1;
    const { run, stored, queued } = await startRun(this.#deps, call, { ...request, input }).catch(
      (error: unknown) => {
        this.#taken -= 1;
        throw error;
      },
    );
    this.#add(run);
    await stored;
    if (call.body.stream !== true) return new RelayReply({}, queued);
    const { workspaceId, revoked } = call.caller;
    const following = { workspaceId, id: run.id, after: -1, signal: call.signal, revoked };
    return new StreamReply({}, this.#follow(following));
  }

  /** The current state of a background response, running or not; undefined when there is none. */
  async find(workspaceId: string, id: string): Promise<Json | undefined> {
    const { background, responses, world } = this.#deps;
    const row = await background.byId(workspaceId, id, world.now());
    if (row?.isRunning) return this.#current(row);
    // It may have ended since the caller looked for a stored response.
    const stored = row && (await responses.byId(workspaceId, id, world.now()));
    return stored && (JSON.parse(stored.body) as Json);
  }

  /** Status of a response that is marked as running in the store. */
  statusOf(workspaceId: string, id: string): string {
    return (
      this.#runOf(workspaceId, id)?.current.status ?? (this.#unfinished.has(id) ? 'failed' : 'in_progress')
    );
  }

  /** The input items of a running response, JSON text. */
  async inputOf(workspaceId: string, id: string): Promise<string | undefined> {
    const row = await this.#deps.background.byId(workspaceId, id, this.#deps.world.now());
    return row?.isRunning ? row.input : undefined;
  }

  /** Cancels a running response, whichever daemon runs it; what was generated is charged. */
  async stop(workspaceId: string, id: string): Promise<void> {
    const run = this.#runOf(workspaceId, id);
    if (run) {
      run.end('cancelled');
      await run.ended;
    } else if (await this.#isElsewhere(workspaceId, id)) {
      const { changes, world } = this.#deps;
      await changes.announce([{ topic: 'stop', id }]);
      const isOver = async () => !(await this.#isElsewhere(workspaceId, id));
      await pollUntil(world, { withinMs: stopWithinMs }, isOver);
    }
  }

  /** Cancels a running response, and resolves to the response object. */
  async cancel(workspaceId: string, id: string): Promise<Json> {
    const { responses, world } = this.#deps;
    await this.stop(workspaceId, id);
    const found = await this.find(workspaceId, id);
    if (found) return found;
    if (await responses.byId(workspaceId, id, world.now()))
      throw invalid('id', 'Only responses created with `background: true` can be cancelled.');
    throw notFound('response', id);
  }

  /** The events of a response after a sequence, to its end; undefined when there is no such streamed response. */
  async follow(following: Following): Promise<AsyncGenerator<string> | undefined> {
    const { background, world } = this.#deps;
    const row = await background.byId(following.workspaceId, following.id, world.now());
    return row?.streamed ? this.#follow(following) : undefined;
  }

  /** Marks responses that a daemon which is gone left unfinished as failed; their holds are settled separately. */
  async takeOver(daemon: number): Promise<number> {
    const { background } = this.#deps;
    const left = await background.running(daemon);
    for (const { workspaceId, id } of left) {
      const row = await background.byId(workspaceId, id, 0);
      if (!row) continue;
      const body = JSON.stringify(interruptedResponse(row.body));
      await background.finish({ id, workspaceId, body, output: '[]', lastSequence: null });
    }
    return left.length;
  }

  /** Waits for running responses until the deadline, then cancels them as failed. */
  async drain(deadlineMs: number): Promise<void> {
    const ended = () => Promise.all([...this.#runs.values()].map((run) => run.ended));
    await within(this.#deps.world, ended(), deadlineMs);
    for (const run of this.#runs.values()) run.end('draining');
    await within(this.#deps.world, ended(), endGraceMs);
  }

  #add(run: BackgroundRun): void {
    this.#runs.set(run.id, run);
    void run.ended.then(() => {
      this.#runs.delete(run.id);
      if (run.isUnfinished) this.#unfinished.add(run.id);
      this.#taken -= 1;
    });
  }

  #runOf(workspaceId: string, id: string): BackgroundRun | undefined {
    const run = this.#runs.get(id);
    return run?.workspaceId === workspaceId ? run : undefined;
  }

  #current(row: BackgroundResponse): Json {
    const run = this.#runOf(row.workspaceId, row.id);
    if (!run && this.#unfinished.has(row.id)) return interruptedResponse(row.body);
    return { ...(JSON.parse(row.body) as Json), ...(run?.current ?? { status: 'in_progress' }) };
  }

  /** Whether another daemon runs it. */
  async #isElsewhere(workspaceId: string, id: string): Promise<boolean> {
    if (this.#runs.has(id) || this.#unfinished.has(id)) return false;
    const { background, world } = this.#deps;
    return (await background.byId(workspaceId, id, world.now()))?.isRunning ?? false;
  }

  #follow(following: Following): AsyncGenerator<string> {
    const { background, responses, world } = this.#deps;
    const run = this.#runOf(following.workspaceId, following.id);
    const { hasOthers } = this.#deps;
    const isElsewhere = () => this.#isElsewhere(following.workspaceId, following.id);
    return follow({ background, responses, world, run, hasOthers, isElsewhere }, following);
  }
}

function tooMany(runsMax: number): ApiError {
  return new ApiError('rate_limited', {
    message: `The maximum number of background responses (${runsMax}) is running; try again when one has ended.`,
    retryAfterSeconds,
  });
}
