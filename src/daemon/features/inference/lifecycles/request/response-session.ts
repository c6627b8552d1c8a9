import type { Json } from '../../../../../shared/faults/invalid-request.ts';
import type { KnownSecrets } from '../../../../../shared/masking/known-secrets.ts';
import { secretsOfServers } from '../../../../../shared/masking/mask-json.ts';
import { unixSeconds } from '../../../../../shared/time/time.ts';
import { RelayReply } from '../../../../base/handler.ts';
import type {
  AnsweredCall,
  CutShort,
  Settled,
  StartedFailure,
  StreamFormat,
  WholeFormat,
} from '../../../calls/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import { assembleAnswer } from '../../formats/responses/parse-answer.ts';
import { isCompactionTriggerJson } from '../../formats/responses/parse-input.ts';
import { showOutput, showResponse, startResource } from '../../formats/responses/render.ts';
import { failedStream, ResponsesStream } from '../../formats/responses/stream.ts';
import { withIds } from '../../stored/history.ts';
import type { StoredResponse, StoredTurn } from '../../stored/responses-store.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { RespondCall } from './read-request.ts';

/** Longer responses are not stored, in characters of JSON. */
export const storedCharactersMax = 4 * 1024 * 1024;

/** A response before its answer. */
export interface SessionStart {
  requestId: string;
  workspaceId: string;
  previousId: string | null;
  /** Whether sealed reasoning is included: on request, or when the client could not continue without it. */
  showsSealed: boolean;
  /** The input items of the request; empty when nothing stores them. */
  ownItems: Json[];
  remember: RespondCall['remember'];
  run: ThreadRun | undefined;
  resource: Json;
  createdAt: number;
  /** The secrets of the request, which its answer may repeat. */
  secrets: KnownSecrets;
}

type Keeping = Pick<StreamFormat, 'keep' | 'keepCutShort' | 'discard'>;

interface StreamOptions {
  serviceEvents: boolean;
  /** Whether the client rejects events that OpenAI does not define. */
  strictEvents?: boolean;
  errorStatus?: boolean;
  /** Whether the client already got the events of the queued response. */
  wasQueued?: boolean;
  /** Stores the response in place of the responses store. */
  keeping?: Keeping;
}

interface ResponseEnd {
  failure?: StartedFailure | undefined;
  settled: Settled | undefined;
}

export function startSession(deps: InferenceDeps, call: RespondCall, ownItems: Json[]): SessionStart {
  const { include, store, previous_response_id: previousId } = call.body;
  const createdAt = deps.world.now();
  const keepsInput = store !== false || call.remember !== undefined || call.run !== undefined;
  return {
    requestId: call.requestId,
    workspaceId: call.caller.workspaceId,
    previousId: previousId ?? null,
    showsSealed: store === false || (include?.includes('reasoning.encrypted_content') ?? false),
    ownItems: keepsInput ? ownItems.filter((item) => !isCompactionTriggerJson(item)) : [],
    remember: call.remember,
    run: call.run,
    resource: startResource(call.body, {
      id: deps.makeId('resp'),
      createdAt: unixSeconds(createdAt),
      store: store ?? true,
      ...(call.run && { threadId: call.run.threadId }),
    }),
    createdAt,
    secrets: secretsOfServers(call.body),
  };
}

/** The whole stream of a response that failed before its answer; it is stored if requested. */
export async function failedSession(
  deps: InferenceDeps,
  start: SessionStart,
  { failure, settled, serviceEvents }: Required<ResponseEnd> & { serviceEvents: boolean },
): Promise<string> {
  const { requestId, resource } = start;
  const end = { status: 'failed', settled, sealed: false, error: failure } as const;
  const show = () => showResponse(resource, { items: [] }, end);
  if (resource.store === true) {
    const input = JSON.stringify(withIds(start.ownItems, deps.makeId));
    const turn = { id: String(resource.id), input, output: '[]' };
    await store(deps, start, { body: JSON.stringify(show()), turn });
  }
  return failedStream({ requestId, resource, response: show(), failure, settled, serviceEvents });
}

/** The answer to one Responses call. It does not hold the request itself, as streams may be long. */
export class ResponseSession {
  readonly #deps: InferenceDeps;
  readonly #answered: AnsweredCall;
  readonly #start: SessionStart;
  readonly #resource: Json;
  #json: string | undefined;

  constructor(deps: InferenceDeps, start: SessionStart, answered: AnsweredCall) {
    this.#deps = deps;
    this.#answered = answered;
    this.#start = start;
    this.#resource = start.resource;
    this.#resource.model = answered.model;
  }

  stream({
    serviceEvents,
    strictEvents = false,
    errorStatus = false,
    wasQueued = false,
    keeping,
  }: StreamOptions): StreamFormat {
    const { model, provider, attempt, output } = this.#answered;
    const { requestId, showsSealed } = this.#start;
    const renderer = new ResponsesStream({
      resource: this.#resource,
      output,
      answering: { requestId, model, provider, attempt },
      serviceEvents,
      strictEvents,
      errorStatus,
      wasQueued,
      sealed: showsSealed,
    });
    return { responseId: this.#id, renderer, ...(keeping ?? this.#keeping()) };
  }

  whole(): WholeFormat<RelayReply> {
    const reply = (end: ResponseEnd) => new RelayReply(this.#answered.headers(end.settled), this.#body(end));
    return {
      responseId: this.#id,
      assemble: (document) => assembleAnswer(this.#answered, document),
      render: (settled) => reply({ settled }),
      renderFailed: (failure, settled) => reply({ failure, settled }),
      hasChanged: () => this.#json === undefined,
      ...this.#keeping(),
    };
  }

  get #id(): string {
    return String(this.#resource.id);
  }

  #keeping(): Keeping {
    const { remember, run } = this.#start;
    return {
      keep: (settled) => this.#keep(settled),
      keepCutShort: (end) => this.#keepCutShort(end),
      // What others learn of a turn cannot be taken back.
      ...(!remember && !run && { discard: () => this.#discard() }),
    };
  }

  /** The items that a continuation is built on, JSON text. */
  sealedOutput(settled: Settled): string {
    return JSON.stringify(this.#output(settled, { sealed: true }));
  }

  /** Adds the turn to the thread, if the call is a run of one. */
  async joinThread(settled: Settled, input: readonly Json[] = this.#start.ownItems): Promise<void> {
    const { run, secrets } = this.#start;
    await run?.complete({ input, output: this.#output(settled, { sealed: true }) }, secrets);
  }

  /** The response object of a canceled call. */
  cancelled(settled: Settled | undefined): Json {
    return this.#show('cancelled', { settled });
  }

  /** The whole response, JSON text. The stored text and the reply are the same, unless it could not be stored. */
  #body({ failure, settled }: ResponseEnd): string {
    this.#json ??= JSON.stringify(this.#show(failure ? 'failed' : 'answered', { failure, settled }));
    return this.#json;
  }

  async #store(body: string, turn: StoredTurn): Promise<void> {
    const isStored = await store(this.#deps, this.#start, { body, turn });
    // The answer says whether it was stored.
    if (!isStored) this.#json = undefined;
  }

  #show(status: 'answered' | 'failed' | 'cancelled', { failure: error, settled }: ResponseEnd): Json {
    const { showsSealed: sealed } = this.#start;
    return showResponse(this.#resource, this.#answered.output, {
      status,
      settled,
      sealed,
      ...(error && { error }),
    });
  }

  #output(settled: Settled, { sealed }: { sealed: boolean }): Json[] {
    return showOutput(this.#answered.output.items, { sealed, isCut: settled.finish !== 'stop' });
  }

  /**
   * Stores the response if requested, and passes the turn to its thread and to `remember`. A response that is too long
   * or cannot be written is still returned, with `store: false`: the caller has paid for it.
   */
  async #keep(settled: Settled): Promise<void> {
    const { remember, run } = this.#start;
    if (this.#resource.store !== true && !remember && !run) return;
    const input = withIds(this.#start.ownItems, this.#deps.makeId);
    await this.joinThread(settled, input);
    const turn = { id: this.#id, input: JSON.stringify(input), output: this.sealedOutput(settled) };
    if (this.#resource.store === true) await this.#store(this.#body({ settled }), turn);
    remember?.(turn, { isStored: this.#resource.store === true });
  }

  async #discard(): Promise<void> {
    if (this.#resource.store === true) await this.#deps.responses.remove(this.#start.workspaceId, this.#id);
  }

  /** Stores a failed or canceled response if requested. A conversation that continues it omits its output. */
  async #keepCutShort({ failure, settled }: CutShort): Promise<void> {
    if (this.#resource.store !== true) return;
    const body = failure ? this.#body({ failure, settled }) : JSON.stringify(this.cancelled(settled));
    const input = JSON.stringify(withIds(this.#start.ownItems, this.#deps.makeId));
    await this.#store(body, { id: this.#id, input, output: '[]' });
  }
}

/** Stores a response; resolves to whether it was. One that is not is marked so. */
async function store(
  { responses, settings, log }: InferenceDeps,
  { workspaceId, requestId, previousId, createdAt, resource, secrets }: SessionStart,
  { body, turn: { id, input, output } }: { body: string; turn: StoredTurn },
): Promise<boolean> {
  const record: StoredResponse = {
    id,
    workspaceId,
    requestId,
    previousId,
    body,
    input,
    output,
    createdAt,
    expiresAt: createdAt + settings.responsesKeptMs,
  };
  const isStored =
    body.length + input.length <= storedCharactersMax &&
    (await responses.insert(record, secrets).then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error, request_id: requestId }, 'a response could not be stored');
        return false;
      },
    ));
  if (!isStored) resource.store = false;
  return isStored;
}
