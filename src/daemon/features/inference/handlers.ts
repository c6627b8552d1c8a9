import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import { compactResponse } from '../../../shared/contract/compaction.ts';
import { createEmbedding } from '../../../shared/contract/embeddings.ts';
import { countMessageTokens, createMessage } from '../../../shared/contract/messages.ts';
import { connectResponses } from '../../../shared/contract/response-socket.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import { type Call, type Handler, identified, implement } from '../../handler.ts';
import type { Idempotency, OnceCall } from '../idempotency/index.ts';
import type { PayableRequest } from '../payment-required/index.ts';
import type { Background } from './lifecycles/background/background.ts';
import type { InferenceDeps } from './lifecycles/inference-deps.ts';
import { compact } from './lifecycles/request/compact.ts';
import { complete } from './lifecycles/request/complete.ts';
import { countMessageTokensReply } from './lifecycles/request/count-message-tokens.ts';
import { createMessageReply } from './lifecycles/request/create-message.ts';
import { embed } from './lifecycles/request/embed.ts';
import { withDefaultModel, withStoreDefault } from './lifecycles/request/read-request.ts';
import { respond } from './lifecycles/request/respond.ts';
import { responseSockets } from './lifecycles/socket/socket-session.ts';
import { storedResponseHandlers, wantsStrictEvents } from './stored-response-handlers.ts';
import { withPayments } from './with-payments.ts';

export interface InferenceFeatures {
  background: Background;
  idempotency: Pick<Idempotency, 'once'>;
}

type ResponseCall = Call<typeof createResponse>;
type ChatCall = Call<typeof createChatCompletion>;
type MessageCall = Call<typeof createMessage>;
type EmbeddingCall = Call<typeof createEmbedding>;
type CompactCall = Call<typeof compactResponse>;

export function inferenceHandlers(
  deps: InferenceDeps,
  { background, idempotency }: InferenceFeatures,
): Handler[] {
  const openSocket = responseSockets(deps);
  const { paidCalls } = deps;
  return [
    implement(
      createResponse,
      withPayments(paidCalls, createResponse, (call: ResponseCall, request) =>
        idempotency.once(
          onceOf(call, createResponse, { isStreamed: call.body.stream === true, request }),
          (signal, slot) => {
            const { requestId, headers } = call;
            const caller = identified(call.caller);
            const body = withStoreDefault(deps, caller, withDefaultModel(deps, call.body));
            const strictEvents = wantsStrictEvents(headers);
            const respondCall = { caller, requestId, signal, body, strictEvents, slot, request };
            return body.background === true ? background.start(respondCall) : respond(deps, respondCall);
          },
        ),
      ),
    ),

    implement(
      createChatCompletion,
      withPayments(paidCalls, createChatCompletion, (call: ChatCall, request) =>
        idempotency.once(
          onceOf(call, createChatCompletion, { isStreamed: call.body.stream === true, request }),
          (signal, slot) => {
            const { caller, body, requestId } = call;
            return complete(deps, { caller: identified(caller), requestId, signal, body, slot, request });
          },
        ),
      ),
    ),

    implement(
      createEmbedding,
      withPayments(paidCalls, createEmbedding, (call: EmbeddingCall, request) =>
        idempotency.once(onceOf(call, createEmbedding, { isStreamed: false, request }), (signal, slot) => {
          const { caller, body, requestId } = call;
          return embed(deps, { caller: identified(caller), requestId, signal, body, slot, request });
        }),
      ),
    ),

    implement(
      createMessage,
      withPayments(paidCalls, createMessage, (call: MessageCall, request) =>
        idempotency.once(
          onceOf(call, createMessage, { isStreamed: call.body.stream === true, request }),
          (signal, slot) => {
            const { body, headers, requestId } = call;
            const caller = identified(call.caller);
            return createMessageReply(deps, { caller, requestId, signal, body, headers, slot, request });
          },
        ),
      ),
    ),

    implement(countMessageTokens, async ({ caller, signal, body, headers }) =>
      countMessageTokensReply(deps, { caller: identified(caller), signal, body, headers }),
    ),

    implement(connectResponses, async ({ signal }) => openSocket({ signal })),

    implement(
      compactResponse,
      withPayments(paidCalls, compactResponse, (call: CompactCall, request) => {
        const { caller, requestId, signal, body } = call;
        return compact(deps, { caller: identified(caller), requestId, signal, body, request });
      }),
    ),

    ...storedResponseHandlers(deps, background),
  ];
}

type ModelEndpoint =
  | typeof createResponse
  | typeof createChatCompletion
  | typeof createMessage
  | typeof createEmbedding;

function onceOf<E extends ModelEndpoint>(
  call: Call<E>,
  endpoint: E,
  { isStreamed, request: { refused } }: { isStreamed: boolean; request: PayableRequest },
): OnceCall {
  const { caller, requestId, body, signal } = call;
  // An answer is not replayed for a payment that is refused.
  const headers = refused ? {} : call.headers;
  return { caller, requestId, headers, body, signal, endpoint, isStreamed };
}
