import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import { type Call, type Handler, identified, implement } from '../../handler.ts';
import type { Idempotency, OnceCall } from '../idempotency/index.ts';
import { compactionHandlers } from './compaction/handlers.ts';
import type { Background } from './lifecycles/background/index.ts';
import { complete } from './lifecycles/request/complete.ts';
import { respond } from './lifecycles/request/respond.ts';
import { withStore } from './lifecycles/request/with-store.ts';
import { responseSocketHandlers } from './lifecycles/socket/handlers.ts';
import type { InferenceDeps } from './pipeline/start-call.ts';
import { storedResponseHandlers, wantsStrictEvents } from './stored/handlers.ts';

export interface InferenceFeatures {
  background: Background;
  idempotency: Pick<Idempotency, 'once'>;
}

/** Handlers only translate: contract in, one feature call, contract out. */
export function inferenceHandlers(
  deps: InferenceDeps,
  { background, idempotency }: InferenceFeatures,
): Handler[] {
  return [
    implement(createResponse, (call) =>
      idempotency.once(onceOf(call, createResponse), (signal, place) => {
        const { requestId, headers } = call;
        const caller = identified(call.caller);
        const body = withStore(deps, caller, call.body);
        const asked = {
          caller,
          requestId,
          signal,
          body,
          strictEvents: wantsStrictEvents(headers),
          place,
        };
        return body.background === true ? background.start(asked) : respond(deps, asked);
      }),
    ),

    implement(createChatCompletion, (call) =>
      idempotency.once(onceOf(call, createChatCompletion), (signal, place) => {
        const { caller, body, requestId } = call;
        return complete(deps, { caller: identified(caller), requestId, signal, body, place });
      }),
    ),

    ...storedResponseHandlers(deps, background),
    ...responseSocketHandlers(deps),
    ...compactionHandlers(deps),
  ];
}

type ModelCall = Call<typeof createResponse> | Call<typeof createChatCompletion>;
type ModelEndpoint = typeof createResponse | typeof createChatCompletion;

function onceOf(call: ModelCall, endpoint: ModelEndpoint): OnceCall {
  const { caller, requestId, headers, body, signal } = call;
  return { caller, requestId, headers, body, signal, endpoint, isStreamed: body.stream === true };
}
