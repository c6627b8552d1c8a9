import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import { type Call, type Handler, identified, implement } from '../../handler.ts';
import type { Idempotency, OnceCall } from '../idempotency/index.ts';
import type { Background } from './background/index.ts';
import type { InferenceNeeds } from './begin.ts';
import { complete } from './chat-completions/complete.ts';
import { compactionHandlers } from './compaction/handlers.ts';
import { respond } from './responses/respond.ts';
import { responseSocketHandlers } from './responses/socket-handlers.ts';
import { withStore } from './responses/with-store.ts';
import { storedResponseHandlers, wantsStrictEvents } from './stored-response-handlers.ts';

export interface InferenceFeatures {
  background: Background;
  idempotency: Pick<Idempotency, 'once'>;
}

/** Handlers only translate: contract in, one feature call, contract out. */
export function inferenceHandlers(
  needs: InferenceNeeds,
  { background, idempotency }: InferenceFeatures,
): Handler[] {
  return [
    implement(createResponse, (call) =>
      idempotency.once(onceOf(call, createResponse), (signal, place) => {
        const { requestId, headers } = call;
        const caller = identified(call.caller);
        const body = withStore(needs, caller, call.body);
        const asked = {
          caller,
          requestId,
          signal,
          body,
          strictEvents: wantsStrictEvents(headers),
          place,
        };
        return body.background === true ? background.start(asked) : respond(needs, asked);
      }),
    ),

    implement(createChatCompletion, (call) =>
      idempotency.once(onceOf(call, createChatCompletion), (signal, place) => {
        const { caller, body, requestId } = call;
        return complete(needs, { caller: identified(caller), requestId, signal, body, place });
      }),
    ),

    ...storedResponseHandlers(needs, background),
    ...responseSocketHandlers(needs),
    ...compactionHandlers(needs),
  ];
}

type ModelEndpoint = typeof createResponse | typeof createChatCompletion;

function onceOf(call: Call<ModelEndpoint>, endpoint: ModelEndpoint): OnceCall {
  const { caller, requestId, headers, body, signal } = call;
  return { caller, requestId, headers, body, signal, endpoint, isStreamed: body.stream === true };
}
