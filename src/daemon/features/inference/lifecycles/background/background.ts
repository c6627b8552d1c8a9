import { ApiError } from '../../../../../shared/errors.ts';
import { RelayReply, StreamReply } from '../../../../handler.ts';
import { within } from '../../../../world.ts';
import { invalid, type Json, quoted } from '../../fault.ts';
import { withIds } from '../../stored/history.ts';
import { asRun, type RespondCall, storedCharactersMax, understand } from '../request/respond.ts';
import { inThread, threadIn } from '../thread/in-thread.ts';
import type { BackgroundResponse } from './background-store.ts';
import { interruptedResponse } from './closing-events.ts';
import { type Following, follow } from './follow.ts';
import type { Run } from './run.ts';
import { type BackgroundDeps, startRun } from './start-run.ts';

const retryAfterSeconds = 10;
/** What runs when nobody waits any longer may tell its end within this time. */
const endGraceMs = 3_000;

/** Responses that are made while their callers do something else. */
export class Background {
  readonly #deps: BackgroundDeps;
  readonly #runs = new Map<string, Run>();
  /** Those that run and those that are about to. */
  #taken = 0;

  constructor(deps: BackgroundDeps) {
    this.#deps = deps;
  }

  /**
   * Begins a response and answers at once: with the queued object, or with a stream that can be left and resumed. Fails
   * with 429 `rate_limited` when too many are being made.
   */
  async start(call: RespondCall): Promise<RelayReply | StreamReply> {
    if (call.body.store === false)
      throw invalid('background', 'A background response is stored; send it without `store: false`.');
    const named = threadIn(call.body);
    if (named === undefined) return this.#startCall(this.#deps, call);
    const { signal } = call;
    return inThread(this.#deps, { named, call: asRun(call), isDetached: true }, ({ deps, run }) =>
      this.#startCall(deps, { ...call, run, signal }),
    );
  }

  async #startCall(deps: BackgroundDeps, call: RespondCall): Promise<RelayReply | StreamReply> {
    const understood = await understand(deps, call);
    const input = JSON.stringify(withIds(understood.own, deps.makeId));
    if (input.length > storedCharactersMax)
      throw invalid('background', 'A background response is stored, and this input is too long for that.');
    const { runsMax } = this.#deps;
    if (this.#taken >= runsMax) throw tooMany(runsMax);
    this.#taken += 1;
    const started = await startRun(deps, call, { ...understood, input }).catch((error: unknown) => {
      this.#taken -= 1;
      throw error;
    });
    this.#add(started.run);
    await started.stored;
    if (call.body.stream !== true) return new RelayReply({}, started.queued);
    const { workspaceId, revoked } = call.caller;
    const { id } = started.run;
    return new StreamReply({}, this.#follow({ workspaceId, id, after: -1, signal: call.signal, revoked }));
  }

  /** One that is or was made in the background, as it is now; undefined where there is none. */
  async find(workspaceId: string, id: string): Promise<Json | undefined> {
    const { background, responses, world } = this.#deps;
    const row = await background.byId(workspaceId, id, world.now());
    if (row?.isRunning) return this.#asItIs(row);
    // It may have ended between two looks.
    const stored = row && (await responses.byId(workspaceId, id, world.now()));
    return stored && (JSON.parse(stored.body) as Json);
  }

  /** How one stands that the store tells as running. */
  statusOf(workspaceId: string, id: string): string {
    return this.#runOf(workspaceId, id)?.now.status ?? 'failed';
  }

  /** The input items of one that has not ended, JSON text. */
  async inputOf(workspaceId: string, id: string): Promise<string | undefined> {
    const row = await this.#deps.background.byId(workspaceId, id, this.#deps.world.now());
    return row?.isRunning ? row.input : undefined;
  }

  /** Ends one if it is being made; its caller pays for what was made. */
  async stop(workspaceId: string, id: string): Promise<void> {
    const run = this.#runOf(workspaceId, id);
    run?.end('cancelled');
    await run?.ended;
  }

  /** Ends one if it is being made, and resolves to what has become of it. */
  async cancel(workspaceId: string, id: string): Promise<Json> {
    const { responses, world } = this.#deps;
    await this.stop(workspaceId, id);
    const found = await this.find(workspaceId, id);
    if (found) return found;
    if (await responses.byId(workspaceId, id, world.now()))
      throw invalid('id', 'Only a response that was created with `background: true` can be cancelled.');
    throw new ApiError('not_found', { message: `There is no response ${quoted(id)}.` });
  }

  /** Its events after a sequence, to the end; undefined where there is no such background response. */
  async follow(following: Following): Promise<AsyncGenerator<string> | undefined> {
    const { background, world } = this.#deps;
    const row = await background.byId(following.workspaceId, following.id, world.now());
    return row?.streamed ? this.#follow(following) : undefined;
  }

  /** Tells of those that an earlier daemon left behind that they failed; their money is settled apart. */
  async recover(): Promise<number> {
    const { background } = this.#deps;
    const left = await background.running();
    for (const { workspaceId, id } of left) {
      const row = await background.byId(workspaceId, id, 0);
      if (!row) continue;
      const body = JSON.stringify(interruptedResponse(row.body));
      await background.finish({ id, body, output: '[]', lastSequence: null });
    }
    return left.length;
  }

  /** Waits for those that run, and at the deadline ends them, told as failed. */
  async drain(deadlineMs: number): Promise<void> {
    const ended = () => Promise.all([...this.#runs.values()].map((run) => run.ended));
    await within(this.#deps.world, ended(), deadlineMs);
    for (const run of this.#runs.values()) run.end('draining');
    await within(this.#deps.world, ended(), endGraceMs);
  }

  removeExpired(limit: number): Promise<number> {
    return this.#deps.background.removeExpired(this.#deps.world.now(), limit);
  }

  #add(run: Run): void {
    this.#runs.set(run.id, run);
    void run.ended.then(() => {
      this.#runs.delete(run.id);
      this.#taken -= 1;
    });
  }

  #runOf(workspaceId: string, id: string): Run | undefined {
    const run = this.#runs.get(id);
    return run?.workspaceId === workspaceId ? run : undefined;
  }

  #asItIs(row: BackgroundResponse): Json {
    const run = this.#runOf(row.workspaceId, row.id);
    // Nobody works on it any more, and nothing could be written that said so.
    if (!run) return interruptedResponse(row.body);
    return { ...(JSON.parse(row.body) as Json), ...run.now };
  }

  #follow(following: Following): AsyncGenerator<string> {
    const { background, responses, world } = this.#deps;
    const run = this.#runOf(following.workspaceId, following.id);
    return follow({ background, responses, now: () => world.now(), run }, following);
  }
}

function tooMany(runsMax: number): ApiError {
  return new ApiError('rate_limited', {
    message: `As many background responses are being made as may be at once (${runsMax}); try again when one has ended.`,
    retryAfterSeconds,
  });
}
