import type { CreateResponseBody } from '../../../../shared/contract/responses.ts';
import { unixSeconds } from '../../../../shared/time.ts';
import { RelayReply, StreamReply } from '../../../handler.ts';
import { answerHeaders, drain, relayStream, wholeAnswer } from '../answer.ts';
import { type Begun, begin, type InferenceNeeds, type ModelCall } from '../begin.ts';
import { isObject, type Json } from '../fault.ts';
import { resolveInput, withIds } from '../history.ts';
import { showOutput } from '../output.ts';
import type { Settled } from '../renderer.ts';
import type { StoredResponse } from '../responses-store.ts';
import { parseWishes } from '../service-member.ts';
import { parseResponses, refuseUnkept } from './parse.ts';
import { endResource, startResource } from './resource.ts';
import { ResponsesStream } from './stream.ts';
import { itemAsEvents } from './whole-items.ts';

/** A stored response may be this long, in characters of JSON; a longer one is answered and not stored. */
const storedCharactersMax = 4 * 1024 * 1024;

export type RespondCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & {
  body: CreateResponseBody;
  /** Some clients cannot take events that they do not know, and say so in a header. */
  strictEvents: boolean;
};

/** One call in the Responses format, from the validated body to the reply. */
export async function respond(needs: InferenceNeeds, call: RespondCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal } = call;
  refuseUnkept(body);
  const wishes = parseWishes(body.service);
  const { workspaceId } = caller;
  const input = await resolveInput(body, {
    store: needs.responses,
    workspaceId,
    now: needs.world.now(),
    open: (sealed) => needs.sealer.open(workspaceId, sealed),
  });
  const inference = parseResponses(body, input.items);
  const begun = await begin(needs, {
    caller,
    requestId,
    endpoint: '/v1/responses',
    inference,
    wishes,
    signal,
  });
  const answer = new Responding(needs, call, { begun, own: input.own });
  return inference.stream ? answer.stream(wishes.events && !call.strictEvents) : answer.whole();
}

/** The answer to one Responses call. It does not keep what was asked, but for what is to be stored: streams may be long. */
class Responding {
  readonly #needs: InferenceNeeds;
  readonly #begun: Begun;
  readonly #requestId: string;
  readonly #workspaceId: string;
  readonly #previousId: string | null;
  /** Sealed reasoning is shown to whoever asked for it, and to whoever could not continue without it. */
  readonly #showsSealed: boolean;
  /** The caller's own items; none of a response that is not stored. */
  readonly #own: Json[];
  readonly #resource: Json;
  readonly #createdAt: number;

  constructor(needs: InferenceNeeds, call: RespondCall, { begun, own }: { begun: Begun; own: Json[] }) {
    const { include, store, previous_response_id: previousId } = call.body;
    this.#needs = needs;
    this.#begun = begun;
    this.#requestId = call.requestId;
    this.#workspaceId = call.caller.workspaceId;
    this.#previousId = previousId ?? null;
    this.#showsSealed = store === false || (include?.includes('reasoning.encrypted_content') ?? false);
    this.#own = store === false ? [] : own;
    this.#createdAt = needs.world.now();
    const id = needs.makeId('resp');
    begun.meter.responseId = id;
    this.#resource = startResource(call.body, {
      id,
      createdAt: unixSeconds(this.#createdAt),
      model: begun.route.offer.model,
      store: store ?? true,
    });
  }

  stream(serviceEvents: boolean): StreamReply {
    const { route, output, meter } = this.#begun;
    const renderer = new ResponsesStream({
      resource: this.#resource,
      output,
      answering: {
        requestId: this.#requestId,
        model: route.offer.model,
        provider: route.provider,
        attempt: meter.attempts.length,
      },
      serviceEvents,
      sealed: this.#showsSealed,
    });
    const keep = (settled: Settled) => this.#keep(settled);
    const chunks = relayStream(this.#needs, this.#begun, { renderer, keep });
    return new StreamReply(answerHeaders(this.#begun), chunks);
  }

  whole(): Promise<RelayReply> {
    return wholeAnswer(this.#needs, this.#begun, async () => {
      const { answer, meter } = this.#begun;
      if (answer.kind === 'json') this.#take(answer.json);
      if (answer.kind === 'json' && answer.tokens) meter.report(answer.tokens);
      if (answer.kind === 'json') meter.finish = answer.finish;
      else await drain(this.#begun);
      const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
      await this.#keep(settled);
      this.#begun.finishRoute({ outputTokens: settled.tokens.output });
      return new RelayReply(answerHeaders(this.#begun, settled), JSON.stringify(this.#end(settled)));
    });
  }

  /** The items of a provider's whole answer in the same format. */
  #take(json: Json): void {
    const { output, route } = this.#begun;
    const items = Array.isArray(json.output) ? json.output.filter(isObject) : [];
    items.forEach((item, index) => {
      for (const event of itemAsEvents(item, index, { provider: route.provider, model: route.providerModel }))
        output.apply(event);
    });
  }

  #end(settled: Settled): Json {
    return endResource(this.#resource, {
      status: settled.finish === 'stop' ? 'completed' : 'incomplete',
      ...(settled.finish !== 'stop' && { incompleteReason: settled.finish }),
      output: this.#show(settled, { sealed: this.#showsSealed }),
      tokens: settled.tokens,
      completedAt: unixSeconds(settled.completedAt),
      service: settled.service,
    });
  }

  #show(settled: Settled, { sealed }: { sealed: boolean }): Json[] {
    return showOutput(this.#begun.output.items, { sealed, isCut: settled.finish !== 'stop' });
  }

  /**
   * Stores the response if it is to be stored. One that is too long or cannot be written says so in its `store`: it was
   * made and paid for, and is worth more than its copy.
   */
  async #keep(settled: Settled): Promise<void> {
    if (this.#resource.store !== true) return;
    const { needs, createdAt } = { needs: this.#needs, createdAt: this.#createdAt };
    const body = JSON.stringify(this.#end(settled));
    const input = JSON.stringify(withIds(this.#own, needs.makeId));
    if (body.length + input.length > storedCharactersMax) {
      this.#resource.store = false;
      return;
    }
    const record: StoredResponse = {
      id: String(this.#resource.id),
      workspaceId: this.#workspaceId,
      requestId: this.#requestId,
      previousId: this.#previousId,
      body,
      input,
      output: JSON.stringify(this.#show(settled, { sealed: true })),
      createdAt,
      expiresAt: createdAt + needs.responsesKeptMs,
    };
    await needs.responses.insert(record).catch((error: unknown) => {
      needs.log.warn({ err: error, request_id: record.requestId }, 'a response could not be stored');
      this.#resource.store = false;
    });
  }
}
