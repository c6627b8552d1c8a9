import { whenAborted } from '../../../../../shared/async/when-aborted.ts';
import type { Message } from '../../../../../shared/contract/endpoint.ts';
import { connectResponses } from '../../../../../shared/contract/response-socket.ts';
import { createResponse } from '../../../../../shared/contract/responses.ts';
import { invalid, isObject } from '../../../../../shared/faults/invalid-request.ts';
import { sseEvent } from '../../../../../shared/http/sse.ts';
import { unixSeconds } from '../../../../../shared/time/time.ts';
import { type Call, identified, SocketReply, StreamReply, type Turn } from '../../../../base/handler.ts';
import {
  checkAction,
  enforceKeyPolicy,
  inputTokens,
  noTokens,
  passedBody,
  policyOf,
} from '../../../calls/index.ts';
import { canonicalJson, carriesPayment, type PayableRequest } from '../../../payment-required/index.ts';
import { EventWriter } from '../../formats/responses/item-events.ts';
import { endResource, startResource } from '../../formats/responses/render.ts';
import { withIds } from '../../stored/history.ts';
import type { StoredTurn } from '../../stored/responses-store.ts';
import { pay } from '../../with-payment.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import {
  type RespondCall,
  readRequest,
  withDefaultModel,
  withStoreDefault,
} from '../request/read-request.ts';
import { respond, responsesEndpoint } from '../request/respond.ts';
import { type MemoryLimit, memoryLimit, SocketMemory } from './socket-memory.ts';

type ResponseMessage = Message<typeof connectResponses>;
type Handshake = Pick<Call<typeof connectResponses>, 'signal' | 'headers'>;

/** Returns a function that opens the session of one socket, which answers `response.create` messages. */
export function responseSockets(deps: InferenceDeps) {
  const limit: MemoryLimit = memoryLimit();
  return ({ signal, headers }: Handshake): SocketReply<ResponseMessage> => {
    const memory = new SocketMemory(deps.responses, limit);
    whenAborted(signal, () => memory.close());
    // A failure to continue a conversation ends it.
    return new SocketReply(
      (turn) => answerTurn(deps, memory, turn, headers),
      (message) => memory.forget(continuedBy(message)),
    );
  };
}

function continuedBy(message: unknown): string | null {
  const id = isObject(message) ? message.previous_response_id : undefined;
  return typeof id === 'string' ? id : null;
}

/** Answers one message; it may continue the conversation that the socket keeps. */
async function answerTurn(
  deps: InferenceDeps,
  memory: SocketMemory,
  turn: Turn<ResponseMessage>,
  handshake: Handshake['headers'],
): Promise<StreamReply> {
  const { type: _type, generate, stream_id: streamId, stream_options: _options, ...more } = turn.message;
  const { headers, ...given } = more;
  const { requestId, signal } = turn;
  const sent = await passedBody(deps, {
    caller: identified(turn.caller),
    requestId,
    signal,
    endpoint: createResponse,
    body: given,
  });
  const body = withStoreDefault(deps, identified(turn.caller), withDefaultModel(deps, sent));
  if (streamId !== undefined && streamId !== null)
    throw invalid('stream_id', 'A socket carries one response at a time; open another socket.');
  if (body.background === true)
    throw invalid('background', 'Background responses are not supported on sockets.');
  const previousId = body.previous_response_id ?? null;
  const { workspaceId } = identified(turn.caller);
  let isKept = false;
  const remember = (finished: StoredTurn, { isStored }: { isStored: boolean }) => {
    isKept = true;
    memory.remember(finished, { workspaceId, previousId, isStored });
  };
  const end = () => {
    if (!isKept) memory.forget(previousId);
  };
  const call = { ...turn, body: { ...body, stream: true }, history: memory, remember };
  if (generate === false) return await warmUp(deps, call);
  const request = new MessageRequest(turn);
  const answerFor = (payable: PayableRequest) =>
    respond(deps, {
      caller: identified(turn.caller),
      requestId: turn.requestId,
      signal: turn.signal,
      body: call.body,
      strictEvents: false,
      isOnSocket: true,
      history: memory,
      remember,
      headers: handshake,
      request: payable,
    });
  const { paidCalls } = deps;
  if (!paidCalls || !headers || !carriesPayment(headers)) {
    const { headers: answerHeaders, chunks } = streamed(await answerFor(request));
    return new StreamReply(answerHeaders, thenEnd(chunks, end));
  }
  const { caller } = turn;
  const reply = await pay(paidCalls, { caller, requestId, endpoint: connectResponses, request }, answerFor);
  const { headers: paidHeaders, chunks } = streamed(reply);
  return new StreamReply(paidHeaders, thenEnd(afterReceipt(paidHeaders, chunks), end));
}

function streamed(reply: unknown): StreamReply {
  if (!(reply instanceof StreamReply)) throw new TypeError('a stream was requested');
  return reply;
}

/** A message, as what a payment is bound to: its canonical JSON without `headers`. */
class MessageRequest implements PayableRequest {
  readonly isMessage = true;
  readonly #turn: Turn<ResponseMessage>;

  constructor(turn: Turn<ResponseMessage>) {
    this.#turn = turn;
  }

  get headers(): PayableRequest['headers'] {
    return this.#turn.message.headers ?? {};
  }

  get remoteAddress(): string {
    return this.#turn.remoteAddress ?? '';
  }

  get rawBody(): Uint8Array {
    const { headers: _headers, ...message } = this.#turn.message;
    return Buffer.from(canonicalJson(message));
  }
}

/** Frames have no headers, so the receipt is an event of its own. */
async function* afterReceipt(
  { 'payment-response': response, 'payment-receipt': receipt }: Record<string, string>,
  chunks: AsyncIterable<string>,
): AsyncGenerator<string> {
  const headers = response === undefined ? { 'payment-receipt': receipt } : { 'payment-response': response };
  yield sseEvent(JSON.stringify({ type: 'service:payment', headers }));
  yield* chunks;
}

async function* thenEnd(chunks: AsyncIterable<string>, end: () => void): AsyncGenerator<string> {
  try {
    yield* chunks;
  } finally {
    end();
  }
}

type WarmUp = Pick<Turn<ResponseMessage>, 'caller'> & {
  body: RespondCall['body'];
  history: SocketMemory;
  remember: (turn: StoredTurn, options: { isStored: boolean }) => void;
};

/** Prepares a conversation for the next message: no provider is called, and nothing is stored or charged. */
async function warmUp(
  deps: InferenceDeps,
  { caller, body, history, remember }: WarmUp,
): Promise<StreamReply> {
  const known = identified(caller);
  const { inference, options, ownItems } = await readRequest(deps, { body, caller: known, history });
  checkAction(policyOf(known), responsesEndpoint);
  const [route] = await deps.router.plan({
    inference,
    inputTokensMax: inputTokens(inference).most,
    options,
    workspaceId: known.workspaceId,
    ...enforceKeyPolicy(deps, { caller: known, inference, options }),
  });
  const createdAt = unixSeconds(deps.world.now());
  const id = deps.makeId('resp');
  const start = startResource(body, { id, createdAt, store: false });
  start.model = route?.offer.model ?? body.model;
  const done = endResource(start, {
    status: 'completed',
    output: [],
    tokens: noTokens,
    completedAt: createdAt,
    service: undefined,
  });
  remember({ id, input: JSON.stringify(withIds(ownItems, deps.makeId)), output: '[]' }, { isStored: false });
  const writer = new EventWriter();
  const text =
    writer.write('response.created', { response: start }) +
    writer.write('response.in_progress', { response: start }) +
    writer.write('response.completed', { response: done });
  return new StreamReply({}, once(text));
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
