import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorObject } from 'ajv';
import type { WebSocket } from 'ws';
import { loopTurns } from '../../../shared/async/loop-turns.ts';
import { whenAborted } from '../../../shared/async/when-aborted.ts';
import type { Endpoint, SocketShape } from '../../../shared/contract/endpoint.ts';
import { ApiError, asApiError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import type { Caller, SocketReply } from '../../base/handler.ts';
import { checkAccess } from '../endpoint-route.ts';
import { describeFailure, errorFrame } from '../error-reply.ts';
import { parseJson } from '../json-body.ts';
import { reportMessageFailure } from '../report-failure.ts';
import { finishRequest } from '../request-lifecycle.ts';
import type { ServerCall } from '../server-call.ts';
import type { ServerContext } from '../server-context.ts';
import { faultsOf } from '../validation/faults.ts';
import { validatorOf } from '../validation/input-check.ts';
import { PeerWatch } from './peer-watch.ts';

/** Close codes. Source: RFC 6455, 7.4.1. */
const closeCodes = { normal: 1000, goingAway: 1001, refused: 1008 } as const;

/** Why the daemon closes a socket; `failure` is sent in a frame first. */
interface Ending {
  code: number;
  reason: string;
  failure?: ApiError;
}

export interface OpenSocketOptions {
  context: ServerContext;
  /** The handshake. */
  call: ServerCall;
  endpoint: Endpoint & { socket: SocketShape };
  reply: SocketReply<unknown>;
  webSocket: WebSocket;
  socket: Socket;
}

/** A WebSocket: its messages are queued and processed one at a time. */
export class OpenSocket {
  readonly #options: OpenSocketOptions;
  readonly #watch: PeerWatch;
  readonly #lifetime: NodeJS.Timeout;
  readonly #waiting: Frame[] = [];
  #waitingBytes = 0;
  #ending: Ending | undefined;
  #closing: NodeJS.Timeout | undefined;

  constructor(options: OpenSocketOptions) {
    this.#options = options;
    const { context, call, webSocket, socket } = options;
    this.#watch = new PeerWatch(webSocket, socket, context);
    this.#lifetime = setTimeout(() => this.#expire(), context.limits.socketLifetimeMs);
    context.sockets.add(this);
    const { revoked } = call.caller as { revoked?: AbortSignal };
    webSocket.on('message', (data, isBinary) => this.#receive({ bytes: data as Buffer, isBinary }));
    // Protocol errors are reported by the close code; the `close` event follows.
    webSocket.on('error', () => {});
    webSocket.once('close', () => {
      stopWatching?.();
      this.#closed();
    });
    const stopWatching = revoked && whenAborted(revoked, () => this.#revoke(revoked.reason));
  }

  /** Closes the socket after its current answer; queued messages are dropped. */
  drain(): void {
    this.#end({ code: closeCodes.goingAway, reason: 'The daemon is stopping.' });
  }

  #expire(): void {
    const failure = new ApiError('websocket_connection_limit_reached');
    this.#end({ code: closeCodes.normal, reason: failure.code, failure });
  }

  #revoke(reason: unknown): void {
    const failure =
      reason instanceof ApiError
        ? reason
        : new ApiError('unauthenticated', { message: 'The key was revoked.' });
    this.#end({ code: closeCodes.refused, reason: 'The key is no longer valid.', failure });
  }

  #receive(frame: Frame): void {
    const { context, call, endpoint, webSocket } = this.#options;
    if (this.#ending) return;
    const { messageLimit } = endpoint.socket;
    const isFull =
      this.#waiting.length >= context.limits.socketMessagesWaitingMax ||
      (this.#waiting.length > 0 && this.#waitingBytes + frame.bytes.length > messageLimit);
    if (isFull) {
      const message = `Too many messages are queued on this socket: at most ${context.limits.socketMessagesWaitingMax} are allowed, of ${messageLimit} bytes in total.`;
      const requestId = context.options.makeRequestId();
      const failure = new ApiError('rate_limited', { message });
      const { caller } = call;
      const refused = { requestId, caller, message: undefined, startedAtMs: performance.now() };
      reportMessageFailure(context.options, call, refused, failure);
      this.#tell(failure, requestId);
      // A client that floods the socket and reads nothing would fill the memory with rejections.
      if (webSocket.bufferedAmount > context.limits.streamBufferBytesMax) webSocket.terminate();
      return;
    }
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes.length;
    if (!call.isWorking) void this.#work();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    const { context, call, webSocket } = this.#options;
    call.isWorking = true;
    try {
      for (let frame = this.#waiting.shift(); frame; frame = this.#waiting.shift()) {
        this.#waitingBytes -= frame.bytes.length;
        await this.#answer(frame, context.options.makeRequestId());
        if (webSocket.readyState !== webSocket.OPEN) break;
      }
    } catch (error) {
      context.options.log.error({ failure: describeFailure(error) }, 'a socket failed unexpectedly');
      webSocket.terminate();
    }
    call.isWorking = false;
    if (this.#ending) this.#close(this.#ending);
    context.running.release(call);
  }

  async #answer(frame: Frame, requestId: string): Promise<void> {
    const { context, call, endpoint, reply } = this.#options;
    const startedAtMs = performance.now();
    let { caller } = call;
    let message: unknown;
    let isTaken = false;
    const held = { bodyBytes: 0 };
    try {
      context.largeBodies.hold(held, frame.bytes.length);
      caller = await this.#callerNow(requestId);
      await loopTurns.next(frame.bytes.length);
      message = readMessage(frame, context.limits);
      if (endpoint.socket.unanswered?.includes(typeIn(message))) return context.largeBodies.free(held);
      checkMessage(message, endpoint.socket);
      await loopTurns.next(frame.bytes.length);
      context.overload.accept(endpoint, message);
      const parent = turnParent(message, call.headers);
      if (parent !== undefined) context.options.onParent?.(requestId, parent);
      // Frees the message, as it may be large and the answer may take long.
      frame.bytes = Buffer.alloc(0);
      const { signal, remoteAddress } = call;
      const { chunks } = await reply.answer({ caller, requestId, message, signal, remoteAddress });
      isTaken = true;
      // Frees the request for the duration of the answer.
      message = undefined;
      context.largeBodies.free(held);
      await this.#send(chunks);
    } catch (error) {
      context.largeBodies.free(held);
      if (!isTaken) {
        const failure = this.#hasLeft ? undefined : this.#toApiError(error);
        reportMessageFailure(context.options, call, { requestId, caller, message, startedAtMs }, failure);
        reply.onRejected(message);
      }
      this.#tell(error, requestId);
      await this.#watch.untilTaken();
    }
  }

  /** The caller may have lost scopes since the socket was opened. */
  async #callerNow(requestId: string): Promise<Caller> {
    const { context, call, endpoint } = this.#options;
    const { authorization, 'x-workspace-id': workspace } = call.headers;
    const authContext = { endpoint, requestId, remoteAddress: call.remoteAddress, workspace };
    try {
      const caller = await context.options.authenticate(authorization, authContext);
      checkAccess(endpoint, caller);
      return caller;
    } catch (error) {
      // A failed lookup may succeed next time.
      if (error instanceof ApiError && (error.status === 401 || error.status === 403))
        this.#end({ code: closeCodes.refused, reason: 'The credential is no longer valid.' });
      throw error;
    }
  }

  async #send(chunks: AsyncIterable<string>): Promise<void> {
    const { webSocket, socket } = this.#options;
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value, done } = await iterator.next();
        if (done || webSocket.readyState !== webSocket.OPEN) return;
        socket.cork();
        for (const frame of framesOf(value)) webSocket.send(frame);
        socket.uncork();
        await this.#watch.untilTaken();
      }
    } finally {
      // Its `finally` settles usage even if the client has left.
      await iterator.return?.();
    }
  }

  #tell(thrown: unknown, requestId: string): void {
    if (this.#hasLeft) return;
    const { context, endpoint, webSocket } = this.#options;
    const error = this.#toApiError(thrown);
    if (error.code === 'server_error') {
      const failure = describeFailure(error.cause ?? thrown);
      const place = { request_id: requestId, endpoint: endpoint.id, failure };
      context.options.log.error(place, 'A message on a socket failed unexpectedly.');
    }
    const { unauthorizedType } = endpoint;
    webSocket.send(errorFrame(error, { requestId, unauthorizedType }));
  }

  get #hasLeft(): boolean {
    const { webSocket } = this.#options;
    return webSocket.readyState !== webSocket.OPEN;
  }

  #toApiError(thrown: unknown): ApiError {
    const isStopped = this.#options.call.endReason === 'draining' && !(thrown instanceof ApiError);
    return isStopped ? new ApiError('unavailable') : asApiError(thrown);
  }

  #end(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.#waiting.length = 0;
    if (!this.#options.call.isWorking) this.#close(ending);
  }

  #close({ code, reason, failure }: Ending): void {
    const { context, webSocket } = this.#options;
    if (this.#closing || webSocket.readyState !== webSocket.OPEN) return;
    if (failure) this.#tell(failure, context.options.makeRequestId());
    const { limits } = context;
    const patienceMs = webSocket.bufferedAmount > 0 ? limits.stalledReaderMs : limits.lingerMs;
    webSocket.close(code, reason);
    this.#closing = setTimeout(() => webSocket.terminate(), patienceMs);
  }

  #closed(): void {
    const { context, call } = this.#options;
    clearTimeout(this.#lifetime);
    clearTimeout(this.#closing);
    this.#watch.end();
    this.#waiting.length = 0;
    context.sockets.delete(this);
    call.end('client-left');
    finishRequest(context, call, { aborted: this.#ending === undefined && call.isWorking });
  }
}

/**
 * The span of a message, in the format of `traceparent`. A socket has one handshake and many turns, so clients send the
 * span of each in the message's `client_metadata`. Source: Codex.
 */
function turnParent(message: unknown, handshake: IncomingHttpHeaders): string | string[] | undefined {
  const { client_metadata: metadata } = message as { client_metadata?: unknown };
  const ownParent =
    typeof metadata === 'object' && metadata !== null && 'ws_request_header_traceparent' in metadata
      ? metadata.ws_request_header_traceparent
      : undefined;
  return typeof ownParent === 'string' ? ownParent : handshake.traceparent;
}

/**
 * Converts server-sent events to socket frames: the JSON text of each event. Comments and the final `[DONE]` are
 * skipped. `events` are complete events, whose JSON contains no raw line break.
 */
export function framesOf(events: string): string[] {
  const frames: string[] = [];
  for (const event of events.split('\n\n')) {
    const at = event.startsWith('data: ') ? 0 : event.indexOf('\ndata: ') + 1;
    if (at === 0 && !event.startsWith('data: ')) continue;
    const data = event.slice(at + 'data: '.length);
    if (data !== '[DONE]') frames.push(data);
  }
  return frames;
}

/** One frame as received. */
interface Frame {
  bytes: Buffer;
  isBinary: boolean;
}

/** Parses a frame; fails with `invalid_json`. */
function readMessage({ bytes, isBinary }: Frame, { jsonDepthMax }: { jsonDepthMax: number }): unknown {
  if (isBinary) {
    throw new ApiError('invalid_request', { message: 'Send text frames; this one was binary.' });
  }
  const message = parseJson(bytes, jsonDepthMax);
  if (message === undefined) throw new ApiError('invalid_json', { message: 'The frame is empty.' });
  return message;
}

/** Fails with `invalid_request`, naming the member, if a message does not match its contract. */
function checkMessage(message: unknown, { message: schema }: SocketShape): void {
  checkType(message, schema);
  const validate = validatorOf(schema, { coerce: false, all: false });
  if (validate(message)) return;
  const [fault] = faultsOf((validate.errors ?? []) as ErrorObject[], message);
  throw new ApiError('invalid_request', { ...fault });
}

function typeIn(message: unknown): string {
  return isObject(message) && typeof message.type === 'string' ? message.type : '';
}

/** Checked first: otherwise members of another message type would be reported as missing. */
function checkType(message: unknown, schema: SocketShape['message']): void {
  const { properties } = schema as { properties?: { type?: { const?: string } } };
  const expected = properties?.type?.const;
  if (!isObject(message) || typeIn(message) === expected) return;
  throw new ApiError('invalid_request', { param: 'type', message: `\`type\` must be \`${expected}\`.` });
}
