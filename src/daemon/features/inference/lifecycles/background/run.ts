import { whenAborted } from '../../../../../shared/async/when-aborted.ts';
import { asApiError } from '../../../../../shared/errors.ts';
import type { Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseDone } from '../../../../../shared/http/sse.ts';
import type { Changes } from '../../../../base/changes.ts';
import type { StreamReply } from '../../../../base/handler.ts';
import type { World } from '../../../../base/world.ts';
import {
  type AnsweredCall,
  type CutShort,
  readLabels,
  type Settled,
  type StreamFormat,
  streamCall,
} from '../../../calls/index.ts';
import { prepareCreate } from '../../compaction/prepare-create.ts';
import { queuedEvents } from '../../formats/responses/stream.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { ReadRequest, RespondCall } from '../request/read-request.ts';
import { responsesEndpoint, wantsServiceEvents } from '../request/respond.ts';
import { ResponseSession, type SessionStart, startSession } from '../request/response-session.ts';
import type { BackgroundEnd, BackgroundStore } from './background-store.ts';
import { closingEvents, failedResponse, responseOf } from './closing-events.ts';
import { countEvents, EventLog } from './event-log.ts';

export interface BackgroundDeps extends InferenceDeps {
  background: BackgroundStore;
  changes: Changes;
  /** Whether other daemons run responses, too. */
  hasOthers: () => boolean;
  world: Pick<World, 'now' | 'elapsed' | 'sleep'>;
}

interface BackgroundRequest extends ReadRequest {
  /** The items of this request as they are stored, JSON text. */
  input: string;
}

/**
 * Starts a call and stores its response as queued. Rejections by key limits, balance or routing fail here, so that they
 * get an HTTP status; later failures end up in the response.
 */
export async function startRun(deps: BackgroundDeps, call: RespondCall, request: BackgroundRequest) {
  const { inference, options, input, ownItems, firstResponseId } = request;
  const { body, caller, requestId, request: payable } = call;
  const start = startSession(deps, call, call.run ? ownItems : []);
  const abort = new AbortController();
  if (call.run) whenAborted(call.run.stopped, () => abort.abort('cancelled'));
  const admitted = Promise.withResolvers<void>();
  const onceAdmitted = { onAdmitted: () => admitted.resolve() };
  const prepared = prepareCreate(deps, {
    body,
    caller,
    requestId,
    endpoint: responsesEndpoint,
    // A stream can be canceled at any time, and is metered as it arrives.
    inference: { ...inference, stream: true },
    options,
    labels: readLabels(payable?.headers ?? {}, body, firstResponseId),
    signal: abort.signal,
    request: payable,
    observers: call.run ? [call.run, onceAdmitted] : [onceAdmitted],
  });
  const answer = new BackgroundAnswer(deps, start, wantsServiceEvents(call, options));
  const starting = prepared.then(({ call: modelCall, rewrite }) =>
    streamCall(deps, modelCall, (answered) => answer.formatOf(answered), { rewrite }),
  );
  await Promise.race([admitted.promise, starting]);
  const id = String(start.resource.id);
  const queued = JSON.stringify({ ...start.resource, status: 'queued' });
  const streamed = body.stream === true;
  const record = {
    id,
    workspaceId: start.workspaceId,
    requestId,
    previousId: start.previousId,
    streamed,
    isRunning: true,
    lastSequence: null,
    createdAt: start.createdAt,
    expiresAt: start.createdAt + deps.settings.responsesKeptMs,
    input,
    body: queued,
  };
  const stored = deps.background.start(record, start.secrets);
  const log = streamed
    ? new EventLog({ responseId: id, store: deps.background, world: deps.world })
    : undefined;
  void log?.append(queuedEvents(start.resource));
  const run = new BackgroundRun(deps, { start, answer, log, abort }, { starting, stored });
  return { run, stored, queued };
}

/** The answer of a background response, which is stored when it is over. */
class BackgroundAnswer {
  readonly #deps: BackgroundDeps;
  readonly #start: SessionStart;
  readonly #serviceEvents: boolean;
  #session: ResponseSession | undefined;
  /** The items that a continuation is built on, JSON text. */
  output = '[]';
  #canceledAs: Settled | undefined;

  constructor(deps: BackgroundDeps, start: SessionStart, serviceEvents: boolean) {
    this.#deps = deps;
    this.#start = start;
    this.#serviceEvents = serviceEvents;
  }

  formatOf(answered: AnsweredCall): StreamFormat {
    const session = new ResponseSession(this.#deps, this.#start, answered);
    this.#session = session;
    const keep = async (settled: Settled) => {
      this.output = session.sealedOutput(settled);
      await session.joinThread(settled);
    };
    const keepCutShort = async ({ settled }: CutShort) => {
      this.#canceledAs = settled;
    };
    return session.stream({
      serviceEvents: this.#serviceEvents,
      wasQueued: true,
      keeping: { keep, keepCutShort },
    });
  }

  /** The response object of a call that was canceled. */
  canceled(): Json {
    return this.#session?.cancelled(this.#canceledAs) ?? { ...this.#start.resource, status: 'cancelled' };
  }
}

interface RunOptions {
  start: SessionStart;
  answer: BackgroundAnswer;
  /** Stores the events, if the response is streamed. */
  log: EventLog | undefined;
  /** Cancels the call. With the reason `draining` the response fails, with any other it is cancelled. */
  abort: AbortController;
}

interface FinishedRun extends Pick<BackgroundEnd, 'body' | 'output'> {
  /** The last events. */
  text: string;
}

/** A running background response. */
export class BackgroundRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly log: EventLog | undefined;
  readonly #deps: BackgroundDeps;
  readonly #options: RunOptions;
  /** Resolves when the response is stored. Never rejects. */
  readonly ended: Promise<void>;
  #status: 'queued' | 'in_progress' = 'queued';
  #isUnfinished = false;

  constructor(
    deps: BackgroundDeps,
    options: RunOptions,
    { starting, stored }: { starting: Promise<StreamReply>; stored: Promise<void> },
  ) {
    this.#deps = deps;
    this.#options = options;
    this.id = String(options.start.resource.id);
    this.workspaceId = options.start.workspaceId;
    this.log = options.log;
    this.ended = this.#run(starting, stored);
  }

  /** The members of the response that changed since it was queued. */
  get current(): { status: string; model: unknown } {
    return { status: this.#status, model: this.#options.start.resource.model };
  }

  /** Whether it has ended, but its end could not be stored. */
  get isUnfinished(): boolean {
    return this.#isUnfinished;
  }

  end(reason: 'cancelled' | 'draining'): void {
    this.#options.abort.abort(reason);
  }

  async #run(starting: Promise<StreamReply>, stored: Promise<void>): Promise<void> {
    const { log } = this;
    // A rejection is handled in `#answer`, which may start after it.
    starting.catch(() => {});
    const isStored = await stored.then(
      () => true,
      () => false,
    );
    if (!isStored) this.end('cancelled');
    try {
      const { body, output, text } = await this.#answer(starting);
      if (!isStored) return;
      const lastSequence = log ? log.lastSequence + countEvents(text) : null;
      const { id, workspaceId } = this;
      const end = { id, workspaceId, body, output, lastSequence };
      await this.#deps.background.finish(end, this.#options.start.secrets);
      await log?.append(text);
    } catch (error) {
      this.#isUnfinished = true;
      this.#deps.log.warn({ err: error, response_id: this.id }, 'a background response could not be stored');
    } finally {
      await this.#options.start.run?.end();
      await log?.end();
    }
  }

  async #answer(starting: Promise<StreamReply>): Promise<FinishedRun> {
    const { start, answer, log, abort } = this.#options;
    let reply: StreamReply;
    try {
      reply = await starting;
    } catch (error) {
      const { reportedCode: code, message } = asApiError(error);
      return this.#finished(
        abort.signal.reason === 'cancelled'
          ? { ...start.resource, status: 'cancelled' }
          : failedResponse(start.resource, { code, message }),
      );
    }
    this.#status = 'in_progress';
    for await (const chunk of reply.chunks) {
      const response = responseOf(chunk);
      if (response) return { body: response, output: answer.output, text: chunk.slice(0, -sseDone.length) };
      await log?.append(chunk);
    }
    // Only a canceled stream ends without closing events.
    return this.#finished(answer.canceled());
  }

  #finished(response: Json): FinishedRun {
    const text = closingEvents(response, (this.log?.lastSequence ?? -1) + 1);
    return { body: JSON.stringify(response), output: '[]', text };
  }
}
