import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { CallAbortController } from '../../shared/async/when-aborted.ts';
import { type Endpoint, type Surface, surfaceOf } from '../../shared/contract/endpoint.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { Caller } from '../base/handler.ts';
import { peerAddress } from './listeners.ts';

declare module 'fastify' {
  interface FastifyRequest {
    call: ServerCall;
  }
}

const anonymous: Caller = { kind: 'anonymous' };

/** The format of an error: clients of the Messages API read models, too, and expect errors in its format. */
export function errorSurface(surface: Surface, headers: Readonly<Record<string, unknown>>): Surface {
  return surface === 'v1' && headers['anthropic-version'] !== undefined ? 'messages' : surface;
}

/** Why a call was ended from outside; the reason of its signal. */
export type EndReason = 'client-left' | 'draining';

/**
 * A request in progress, in the form that handlers receive. Rarely needed members are created on demand: an
 * AbortController costs more than the rest of this object.
 */
export class ServerCall {
  readonly requestId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAtMs: number;
  endpoint: Endpoint | undefined;
  caller: Caller = anonymous;
  params: unknown;
  query: unknown;
  body: unknown;
  rawBody: Uint8Array | undefined;
  /** What its body counts among the large ones. */
  bodyBytes = 0;
  /** The origin that may read the response, if any. */
  corsOrigin: string | undefined;
  /** Why it was ended, once it was. */
  endReason: EndReason | undefined;
  /** Responses and handlers in progress, which a stop waits for. */
  isAnswered = false;
  isWorking = false;
  /** Whether its handler was called. */
  isTaken = false;
  /** The error that was returned, or none when the client left before its answer began. */
  failure: { error: ApiError | undefined } | undefined;
  /** Used by the list of running calls. */
  place = -1;
  /** The connection, once it is a WebSocket; the response is unused then. */
  upgraded: Duplex | undefined;
  /** The client that a trusted proxy named. */
  proxiedFor: string | undefined;
  /** The client of a request that another thread forwarded. */
  forwardedFor: string | undefined;
  /** Whether another thread answers it. */
  isForwarded = false;
  #controller: CallAbortController | undefined;

  constructor(requestId: string, request: IncomingMessage, response: ServerResponse, startedAtMs: number) {
    this.requestId = requestId;
    this.request = request;
    this.response = response;
    this.startedAtMs = startedAtMs;
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get target(): string {
    return this.request.url ?? '';
  }

  get remoteAddress(): string {
    if (this.proxiedFor !== undefined) return this.proxiedFor;
    if (this.forwardedFor !== undefined) return this.forwardedFor;
    const { socket } = this.request;
    if (socket === undefined) return '';
    return peerAddress(socket);
  }

  get isProxied(): boolean {
    return this.proxiedFor !== undefined;
  }

  get surface(): Surface {
    return errorSurface(this.endpoint?.surface ?? surfaceOf(this.request.url ?? ''), this.headers);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new CallAbortController();
      if (this.endReason !== undefined) this.#controller.abort(this.endReason);
    }
    return this.#controller.signal;
  }

  /** Closes the connection immediately. */
  cut(): void {
    (this.upgraded ?? this.response).destroy();
  }

  end(reason: EndReason): void {
    if (this.endReason !== undefined) return;
    this.endReason = reason;
    this.#controller?.abort(reason);
  }
}
