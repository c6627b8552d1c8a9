import {
  type CreateChatCompletionBody,
  type CreateChatCompletionRequest,
  createChatCompletion,
} from '../../../shared/contract/chat-completions.ts';
import { compactResponse } from '../../../shared/contract/compaction.ts';
import {
  previewChatCompletion,
  previewEmbedding,
  previewMessage,
  previewResponse,
} from '../../../shared/contract/cost-preview.ts';
import { createEmbedding } from '../../../shared/contract/embeddings.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { countInputTokens } from '../../../shared/contract/input-tokens.ts';
import { countMessageTokens, createMessage } from '../../../shared/contract/messages.ts';
import { connectResponses } from '../../../shared/contract/response-socket.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import {
  type Handler,
  type Identified,
  identified,
  implement,
  type RelayReply,
  type StreamReply,
} from '../../base/handler.ts';
import { passedBody } from '../calls/index.ts';
import type { Idempotency, IdempotencySlot, OnceCall } from '../idempotency/index.ts';
import type { PayableRequest } from '../payment-required/index.ts';
import { chatBody } from './formats/chat-completions/from-responses.ts';
import type { Background } from './lifecycles/background/background.ts';
import type { InferenceDeps } from './lifecycles/inference-deps.ts';
import { compact } from './lifecycles/request/compact.ts';
import { complete } from './lifecycles/request/complete.ts';
import { countInputTokensReply, countMessageTokensReply } from './lifecycles/request/count-input.ts';
import { createMessageReply } from './lifecycles/request/create-message.ts';
import { embed } from './lifecycles/request/embed.ts';
import {
  previewChatCost,
  previewEmbeddingCost,
  previewMessageCost,
  previewResponseCost,
} from './lifecycles/request/preview-cost.ts';
import { wantsStrictEvents, withDefaultModel, withStoreDefault } from './lifecycles/request/read-request.ts';
import { respond } from './lifecycles/request/respond.ts';
import { responseSockets } from './lifecycles/socket/socket-session.ts';
import { storedResponseHandlers } from './stored-response-handlers.ts';
import { type Payable, type Receivable, withPayment } from './with-payment.ts';

export interface InferenceFeatures {
  background: Background;
  idempotency: Pick<Idempotency, 'once'>;
}

/** Nearly all bodies are of the format of their endpoint. */
function hasMessages(body: CreateChatCompletionRequest): body is CreateChatCompletionBody {
  return body.messages !== undefined;
}

type ModelCall = Payable & Pick<OnceCall, 'body' | 'signal'>;

/** A call whose payment was accepted, if it carries one. */
interface RunningCall {
  caller: Identified;
  requestId: string;
  /** Outlives the client if the call has an Idempotency-Key. */
  signal: AbortSignal;
  slot: IdempotencySlot | undefined;
  request: PayableRequest;
}

export function inferenceHandlers(
  deps: InferenceDeps,
  { background, idempotency }: InferenceFeatures,
): Handler[] {
  const openSocket = responseSockets(deps);
  const { paidCalls } = deps;
  /**
   * Answers a call once for its Idempotency-Key. Its payment is accepted after that, as a repeated call carries the proof
   * that the first one used.
   */
  const answer = <B extends object, R extends (RelayReply | StreamReply) & Receivable<R>>(
    call: ModelCall & { body: B },
    endpoint: Endpoint,
    respond: (running: RunningCall, body: B) => Promise<R>,
  ): Promise<R | RelayReply> => {
    const { caller, requestId, headers, body, signal: given } = call;
    const isStreamed = endpoint.stream !== undefined && (body as { stream?: unknown }).stream === true;
    return idempotency.once(
      { caller, requestId, headers, body, signal: given, endpoint, isStreamed },
      (signal, slot) =>
        withPayment(paidCalls, { endpoint, call, slot }, async (request) => {
          const running = { caller: identified(caller), requestId, signal, slot, request };
          return await respond(running, await passedBody(deps, { ...running, endpoint, body }));
        }),
    );
  };
  return [
    implement(createResponse, (call) =>
      answer(call, createResponse, (running, sent) => {
        const body = withStoreDefault(deps, running.caller, withDefaultModel(deps, sent));
        const respondCall = { ...running, body, strictEvents: wantsStrictEvents(call.headers) };
        return body.background === true ? background.start(respondCall) : respond(deps, respondCall);
      }),
    ),

    implement(createChatCompletion, (call) =>
      answer(call, createChatCompletion, (running, body) =>
        complete(deps, { ...running, body: hasMessages(body) ? body : chatBody(body) }),
      ),
    ),

    implement(createEmbedding, (call) =>
      answer(call, createEmbedding, (running, body) => embed(deps, { ...running, body })),
    ),

    implement(createMessage, (call) =>
      answer(call, createMessage, (running, body) =>
        createMessageReply(deps, { ...running, body, headers: call.headers }),
      ),
    ),

    implement(countMessageTokens, async ({ caller, signal, body, headers }) =>
      countMessageTokensReply(deps, { caller: identified(caller), signal, body, headers }),
    ),

    implement(countInputTokens, async ({ caller, signal, body }) =>
      countInputTokensReply(deps, { caller: identified(caller), signal, body }),
    ),

    implement(previewResponse, async ({ caller, body }) =>
      previewResponseCost(deps, identified(caller), body),
    ),

    implement(previewChatCompletion, async ({ caller, body }) =>
      previewChatCost(deps, identified(caller), body),
    ),

    implement(previewMessage, async ({ caller, body, headers }) =>
      previewMessageCost(deps, identified(caller), { body, headers }),
    ),

    implement(previewEmbedding, async ({ caller, body }) =>
      previewEmbeddingCost(deps, identified(caller), body),
    ),

    implement(connectResponses, async ({ signal, headers }) => openSocket({ signal, headers })),

    implement(compactResponse, (call) =>
      withPayment(paidCalls, { endpoint: compactResponse, call }, async (request) => {
        const { requestId, signal } = call;
        const running = { caller: identified(call.caller), requestId, signal, request };
        const body = await passedBody(deps, { ...running, endpoint: compactResponse, body: call.body });
        return await compact(deps, { ...running, body });
      }),
    ),

    ...storedResponseHandlers(deps, background),
  ];
}
