import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { invalid, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { Identified } from '../../../../base/handler.ts';
import {
  defaultsOf,
  type ModelCall,
  parseServiceOptions,
  type ServiceOptions,
} from '../../../calls/index.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import type { PayableRequest } from '../../../payment-required/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import type { Inference } from '../../../upstreams/neutral.ts';
import { parseResponses } from '../../formats/responses/parse.ts';
import { resolveInput } from '../../stored/history.ts';
import type { ResponsesStore, StoredTurn } from '../../stored/responses-store.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { threadIn } from '../thread/in-thread.ts';

/** A call in the Responses format. */
export type RespondCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateResponseBody;
  /** Whether the client rejects unknown events, so that `service:*` events must be left out. */
  strictEvents: boolean;
  /** The headers that label the call; by default those of the request. */
  headers?: PayableRequest['headers'];
  /** Whether the answer is sent over a WebSocket, where error events carry the HTTP status. */
  isOnSocket?: boolean;
  /** Where earlier responses are found; the responses store by default. */
  history?: Pick<ResponsesStore, 'chain' | 'items'>;
  /** Called with the finished turn, whether or not it was stored. */
  remember?: (turn: StoredTurn, options: { isStored: boolean }) => void;
  /** Set when the call is a run of a thread. */
  run?: ThreadRun;
  /** Where a whole answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

/** The stream helper of OpenAI's SDK rejects unknown events, and identifies itself with this header. */
export function wantsStrictEvents(headers: PayableRequest['headers']): boolean {
  return headers['x-stainless-helper-method'] === 'stream';
}

/** A parsed request, joined with the conversation that it continues. */
export interface ReadRequest {
  inference: Inference;
  options: ServiceOptions;
  /** The input items of this request alone, in the Responses format. */
  ownItems: Json[];
  /** The id of the response that began the conversation; null for a call that continues none. */
  firstResponseId: string | null;
}

/** Parses a Responses request. Fails with `invalid_request`, or with `…_not_found` for what it refers to. */
export async function readRequest(
  deps: InferenceDeps,
  { body, caller, history = deps.responses, run }: Pick<RespondCall, 'body' | 'caller' | 'history' | 'run'>,
): Promise<ReadRequest> {
  const named = run ? undefined : threadIn(body);
  if (named) throw invalid(named.param, 'This call cannot run in a thread.');
  const options = parseServiceOptions(body.service);
  const { workspaceId } = caller;
  const { items, ...rest } = await resolveInput(body, {
    store: history,
    workspaceId,
    now: deps.world.now(),
    open: (sealed) => deps.sealer.open(workspaceId, sealed),
    openSummary: (sealed) => deps.sealer.openSummary(workspaceId, sealed),
    ...(run && { earlier: await run.earlier() }),
  });
  return { inference: parseResponses(body, items), options, ...rest };
}

/** The body with the configured default model if it names none. Fails if there is no default. */
export function withDefaultModel<B extends { model?: string | null }>(
  { settings: { defaultModel } }: Pick<InferenceDeps, 'settings'>,
  body: B,
): B & { model: string } {
  const model = body.model ?? defaultModel;
  if (model === undefined) throw invalid('model', 'Name a model: no `default_model` is configured.');
  return { ...body, model };
}

/** The body with `store: false` when the key's defaults or the daemon's settings say so and the request says nothing. */
export function withStoreDefault<B extends Pick<CreateResponseBody, 'store' | 'background'>>(
  { settings }: Pick<InferenceDeps, 'settings'>,
  caller: Identified,
  body: B,
): B {
  // Background responses are always stored.
  if (typeof body.store === 'boolean' || body.background === true) return body;
  const store = defaultsOf(caller)?.store ?? settings.storesResponses;
  return store ? body : { ...body, store };
}
