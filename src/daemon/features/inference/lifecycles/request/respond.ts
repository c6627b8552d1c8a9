import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { unixSeconds } from '../../../../../shared/time.ts';
import { RelayReply, StreamReply } from '../../../../handler.ts';
import type { AnswerPlace } from '../../../idempotency/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import { isTriggerJson } from '../../compaction/compaction-item.ts';
import { startCreate } from '../../compaction/within-create.ts';
import { invalid, type Json } from '../../fault.ts';
import { parseResponses, refuseEmpty } from '../../formats/responses/parse.ts';
import { readWhole } from '../../formats/responses/read-whole.ts';
import { endResource, startResource } from '../../formats/responses/resource.ts';
import { ResponsesStream } from '../../formats/responses/stream.ts';
import type { Inference } from '../../neutral.ts';
import { showOutput } from '../../pipeline/output.ts';
import { answerHeaders, relayStream, settleWhole, wholeAnswer } from '../../pipeline/relay.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { parseServiceOptions, type ServiceOptions } from '../../pipeline/service-member.ts';
import type { InferenceDeps, ModelCall, StartedCall } from '../../pipeline/start-call.ts';
import { resolveInput, withIds } from '../../stored/history.ts';
import type { ResponsesStore, StoredResponse, StoredTurn } from '../../stored/responses-store.ts';
import { firstWords } from '../thread/first-words.ts';
import { inThread, threadIn } from '../thread/in-thread.ts';

/** A stored response may be this long, in characters of JSON; a longer one is answered and not stored. */
export const storedCharactersMax = 4 * 1024 * 1024;

interface StreamOptions {
  serviceEvents: boolean;
  tellsStatus?: boolean;
  wasQueued?: boolean;
  keep?: (settled: Settled) => Promise<void>;
}

export type RespondCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & {
  body: CreateResponseBody;
  /** Some clients cannot take events that they do not know, and say so in a header. */
  strictEvents: boolean;
  /** Whether the answer travels as frames of a socket, on which each error tells its status. */
  isOnSocket?: boolean;
  /** Where earlier turns are found; the store unless told. */
  history?: Pick<ResponsesStore, 'chain' | 'items'>;
  /** Told of the turn once it came to its end, whether or not it was stored. */
  remember?: (turn: StoredTurn, options: { isStored: boolean }) => void;
  /** The run of a thread that the call is. */
  run?: ThreadRun;
  /** Where a whole answer is kept for an Idempotency-Key. */
  place?: AnswerPlace | undefined;
};

/** A call that was understood: what is to be asked, what the gateway was asked, and the caller's own items. */
export interface Understood {
  inference: Inference;
  options: ServiceOptions;
  own: Json[];
}

/** One call in the Responses format, from the validated body to the reply. */
export async function respond(deps: InferenceDeps, call: RespondCall): Promise<RelayReply | StreamReply> {
  if (call.body.background === true)
    throw invalid('background', 'A background response is made by POST /v1/responses alone.');
  const named = threadIn(call.body);
  if (named === undefined) return answer(deps, call);
  return inThread(deps, { named, call: asRun(call) }, (parts) => answer(parts.deps, { ...call, ...parts }));
}

/** What a thread is told of a call that is to be a run of it. */
export function asRun(call: RespondCall) {
  const { caller, requestId, signal, body } = call;
  refuseEmpty(body);
  return { caller, requestId, signal, body, endpoint: responsesEndpoint, says: firstWords(body.input) };
}

async function answer(deps: InferenceDeps, call: RespondCall): Promise<RelayReply | StreamReply> {
  const { caller, requestId, signal } = call;
  const { inference, options, own } = await understand(deps, call);
  const started = await startCreate(deps, {
    body: call.body,
    caller,
    requestId,
    endpoint: responsesEndpoint,
    inference,
    options,
    signal,
  });
  const session = new ResponseSession(deps, startOf(deps, call, own), started);
  return inference.stream
    ? session.stream({ serviceEvents: showsService(call, options), tellsStatus: call.isOnSocket ?? false })
    : session.whole(call.place);
}

export const responsesEndpoint = '/v1/responses';

/** Reads a body and what it continues; fails with what the caller has to change. */
export async function understand(
  deps: InferenceDeps,
  { body, caller, history, run }: Pick<RespondCall, 'body' | 'caller' | 'history' | 'run'>,
): Promise<Understood> {
  refuseEmpty(body);
  const named = run ? undefined : threadIn(body);
  if (named) throw invalid(named.param, 'Only a call that is answered can be a run of a thread.');
  const options = parseServiceOptions(body.service);
  const { workspaceId } = caller;
  const { items, own } = await resolveInput(body, {
    store: history ?? deps.responses,
    workspaceId,
    now: deps.world.now(),
    open: (sealed) => deps.sealer.open(workspaceId, sealed),
    openSummary: (sealed) => deps.sealer.openSummary(workspaceId, sealed),
    ...(run && { earlier: await run.earlier() }),
  });
  return { inference: parseResponses(body, items), options, own };
}

/** Whether a stream of this call carries the gateway's own events. */
export function showsService({ strictEvents }: RespondCall, options: ServiceOptions): boolean {
  return options.events && !strictEvents;
}

/** A response before anybody has answered. */
export interface ResponseStart {
  requestId: string;
  workspaceId: string;
  previousId: string | null;
  /** Sealed reasoning is shown to whoever asked for it, and to whoever could not continue without it. */
  showsSealed: boolean;
  /** The caller's own items; none of a response that nobody keeps. */
  own: Json[];
  remember: RespondCall['remember'];
  run: RespondCall['run'];
  resource: Json;
  createdAt: number;
}

export function startOf(deps: InferenceDeps, call: RespondCall, own: Json[]): ResponseStart {
  const { include, store, previous_response_id: previousId } = call.body;
  const createdAt = deps.world.now();
  return {
    requestId: call.requestId,
    workspaceId: call.caller.workspaceId,
    previousId: previousId ?? null,
    showsSealed: store === false || (include?.includes('reasoning.encrypted_content') ?? false),
    own: store === false && !call.remember && !call.run ? [] : own.filter((item) => !isTriggerJson(item)),
    remember: call.remember,
    run: call.run,
    resource: startResource(call.body, {
      id: deps.makeId('resp'),
      createdAt: unixSeconds(createdAt),
      store: store ?? true,
      ...(call.run && { threadId: call.run.threadId }),
    }),
    createdAt,
  };
}

/** The answer to one Responses call. It does not keep what was asked, but for what is to be stored: streams may be long. */
export class ResponseSession {
  readonly #deps: InferenceDeps;
  readonly #started: StartedCall;
  readonly #start: ResponseStart;
  readonly #resource: Json;
  #text: string | undefined;

  constructor(deps: InferenceDeps, start: ResponseStart, started: StartedCall) {
    this.#deps = deps;
    this.#started = started;
    this.#start = start;
    this.#resource = start.resource;
    this.#resource.model = started.route.offer.model;
    started.meter.responseId = String(start.resource.id);
  }

  /** `keep` stores the response, unless told otherwise where it is kept; `wasQueued` continues a stream that said so. */
  stream({
    serviceEvents,
    tellsStatus = false,
    wasQueued = false,
    keep = (settled) => this.#keep(settled),
  }: StreamOptions): StreamReply {
    const { route, output, meter } = this.#started;
    const renderer = new ResponsesStream({
      resource: this.#resource,
      output,
      answering: {
        requestId: this.#start.requestId,
        model: route.offer.model,
        provider: route.provider,
        attempt: meter.attempts.length,
      },
      serviceEvents,
      tellsStatus,
      wasQueued,
      sealed: this.#start.showsSealed,
    });
    const chunks = relayStream(this.#deps, this.#started, { renderer, keep });
    return new StreamReply(answerHeaders(this.#started), chunks);
  }

  whole(place?: AnswerPlace): Promise<RelayReply> {
    const started = this.#started;
    const render = (settled: Settled) => new RelayReply(answerHeaders(started, settled), this.#json(settled));
    return wholeAnswer(this.#deps, started, async () => {
      await readWhole(started);
      const { settled, reply } = await settleWhole(started, { render, place });
      await this.#keep(settled);
      started.finishRoute({ outputTokens: settled.tokens.output });
      return reply?.body === this.#json(settled) ? reply : render(settled);
    });
  }

  /** The items that a continuation is built on, JSON text. */
  sealedOutput(settled: Settled): string {
    return JSON.stringify(this.#show(settled, { sealed: true }));
  }

  /** Adds the turn to the thread that the call is a run of, if it is one. */
  async joinThread(settled: Settled, input: readonly Json[] = this.#start.own): Promise<void> {
    await this.#start.run?.complete({ input, output: this.#show(settled, { sealed: true }) });
  }

  /** The response as it stands when its caller ends it. */
  cancelled(settled: Settled | undefined): Json {
    return endResource(this.#resource, {
      status: 'cancelled',
      output: showOutput(this.#started.output.items, { sealed: this.#start.showsSealed, isCut: true }),
      tokens: settled?.tokens,
      completedAt: 0,
      service: settled?.service,
    });
  }

  /** The whole response: what is stored and what is given are one text, unless it could not be stored. */
  #json(settled: Settled): string {
    this.#text ??= JSON.stringify(this.#end(settled));
    return this.#text;
  }

  #tellUnstored(): void {
    this.#resource.store = false;
    this.#text = undefined;
  }

  #end(settled: Settled): Json {
    return endResource(this.#resource, {
      status: settled.finish === 'stop' ? 'completed' : 'incomplete',
      ...(settled.finish !== 'stop' && { incompleteReason: settled.finish }),
      output: this.#show(settled, { sealed: this.#start.showsSealed }),
      tokens: settled.tokens,
      completedAt: unixSeconds(settled.completedAt),
      service: settled.service,
    });
  }

  #show(settled: Settled, { sealed }: { sealed: boolean }): Json[] {
    return showOutput(this.#started.output.items, { sealed, isCut: settled.finish !== 'stop' });
  }

  /**
   * Stores the response if it is to be stored, and tells whoever remembers it. One that is too long or cannot be written
   * says so in its `store`: it was made and paid for, and is worth more than its copy.
   */
  async #keep(settled: Settled): Promise<void> {
    const { remember, run } = this.#start;
    if (this.#resource.store !== true && !remember && !run) return;
    const input = withIds(this.#start.own, this.#deps.makeId);
    await this.joinThread(settled, input);
    const turn = {
      id: String(this.#resource.id),
      input: JSON.stringify(input),
      output: this.sealedOutput(settled),
    };
    if (this.#resource.store === true) await this.#store(settled, turn);
    remember?.(turn, { isStored: this.#resource.store === true });
  }

  async #store(settled: Settled, { id, input, output }: StoredTurn): Promise<void> {
    const deps = this.#deps;
    const { workspaceId, requestId, previousId, createdAt } = this.#start;
    const body = this.#json(settled);
    if (body.length + input.length > storedCharactersMax) return this.#tellUnstored();
    const record: StoredResponse = {
      id,
      workspaceId,
      requestId,
      previousId,
      body,
      input,
      output,
      createdAt,
      expiresAt: createdAt + deps.responsesKeptMs,
    };
    await deps.responses.insert(record).catch((error: unknown) => {
      deps.log.warn({ err: error, request_id: record.requestId }, 'a response could not be stored');
      this.#tellUnstored();
    });
  }
}
