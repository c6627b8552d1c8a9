import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import { compactResponse } from '../../../shared/contract/compaction.ts';
import { connectResponses } from '../../../shared/contract/response-socket.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import { type Call, type Handler, identified, implement } from '../../handler.ts';
import type { Idempotency, OnceCall } from '../idempotency/index.ts';
import type { Background } from './lifecycles/background/background.ts';
import type { InferenceDeps } from './lifecycles/inference-deps.ts';
import { compact } from './lifecycles/request/compact.ts';
import { complete } from './lifecycles/request/complete.ts';
import { withDefaultModel, withStoreDefault } from './lifecycles/request/read-request.ts';
import { respond } from './lifecycles/request/respond.ts';
import { responseSockets } from './lifecycles/socket/socket-session.ts';
import { storedResponseHandlers, wantsStrictEvents } from './stored-response-handlers.ts';

export interface InferenceFeatures {
  background: Background;
  idempotency: Pick<Idempotency, 'once'>;
}

export function inferenceHandlers(
  deps: InferenceDeps,
  { background, idempotency }: InferenceFeatures,
): Handler[] {
  const openSocket = responseSockets(deps);
  return [
    implement(createResponse, (call) =>
      idempotency.once(onceOf(call, createResponse), (signal, slot) => {
        const { requestId, headers } = call;
        const caller = identified(call.caller);
        const body = withStoreDefault(deps, caller, withDefaultModel(deps, call.body));
        const strictEvents = wantsStrictEvents(headers);
        const respondCall = { caller, requestId, signal, body, strictEvents, slot };
        return body.background === true ? background.start(respondCall) : respond(deps, respondCall);
      }),
    ),

    implement(createChatCompletion, (call) =>
      idempotency.once(onceOf(call, createChatCompletion), (signal, slot) => {
        const { caller, body, requestId } = call;
        return complete(deps, { caller: identified(caller), requestId, signal, body, slot });
      }),
    ),

    implement(connectResponses, async ({ signal }) => openSocket({ signal })),

    implement(compactResponse, async ({ caller, requestId, signal, body }) =>
      compact(deps, { caller: identified(caller), requestId, signal, body }),
    ),

    ...storedResponseHandlers(deps, background),
  ];
}

type ModelCall = Call<typeof createResponse> | Call<typeof createChatCompletion>;
type ModelEndpoint = typeof createResponse | typeof createChatCompletion;

function onceOf(call: ModelCall, endpoint: ModelEndpoint): OnceCall {
  const { caller, requestId, headers, body, signal } = call;
  return { caller, requestId, headers, body, signal, endpoint, isStreamed: body.stream === true };
}
