import { answerableCodes } from '../../shared/contract/openapi.ts';
import { ApiError, asApiError } from '../../shared/errors.ts';
import { isoTime } from '../../shared/time/time.ts';
import { keyExpiresHeader, versionHeader } from '../../shared/version.ts';
import { RelayReply, StreamReply } from '../base/handler.ts';
import type { Log } from '../base/log.ts';
import { acceptedEncoding, Compression, compressedLengthMin, isCompressible } from './compression.ts';
import { discardBody } from './discard-body.ts';
import { describeFailure, errorAnswer } from './error-reply.ts';
import {
  type Cuttable,
  disconnectWhenStalled,
  eventStreamHeaders,
  writeEventStream,
} from './event-stream.ts';
import type { HttpLimits } from './protection/limits.ts';
import type { ServerCall } from './server-call.ts';

const jsonType = 'application/json; charset=utf-8';

export interface ResponderOptions {
  limits: HttpLimits;
  log: Log;
  version: string;
  strictErrors: boolean;
  /** Streams that wait for their reader. */
  stalled: Set<Cuttable>;
  isDraining: () => boolean;
  /** Called before the error is written; without one if the client left. */
  onFailure: (call: ServerCall, error: ApiError | undefined) => void;
  /** Hands a request that would be refused to another thread. Returns whether it did. */
  forward?: ((call: ServerCall) => boolean) | undefined;
}

export type Serialise = (value: unknown) => string;

/** Writes every response, whole, streamed or failed, without Fastify's reply: docs/decisions/2026-11-22-fastify.md. */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #compression = new Compression();
  /** Streams in progress. */
  streamsOpen = 0;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  /** Writes a handler's result. Returns a promise for streams and compressed answers; it resolves at their end. */
  succeed(call: ServerCall, value: unknown, serialise: () => Serialise): Promise<void> | undefined {
    if (value instanceof StreamReply) return this.#stream(call, value);
    try {
      if (value instanceof RelayReply) {
        // Clients read a body of the type that is named. Source: awslabs/mcp#3324.
        const isEmpty = value.body.length === 0;
        const headers = isEmpty ? value.headers : { 'content-type': jsonType, ...value.headers };
        return this.#answer(call, value.status, headers, value.body);
      } else {
        const { contentType, access } = call.endpoint ?? {};
        const isText = typeof contentType === 'string' && typeof value === 'string';
        const headers: Record<string, string> = {
          'content-type': isText ? contentType : jsonType,
          'x-content-type-options': 'nosniff',
        };
        if (!access?.anonymous) headers['cache-control'] = 'no-store';
        return this.#answer(call, 200, headers, isText ? value : serialise()(value));
      }
    } catch (error) {
      this.fail(call, error);
    }
    return undefined;
  }

  /** Writes an error, or closes the connection if the response has already started. */
  fail(call: ServerCall, thrown: unknown): void {
    const { response } = call;
    if (call.endReason === 'client-left' || response.destroyed) {
      if (!response.headersSent) this.#options.onFailure(call, undefined);
      return;
    }
    if (!response.headersSent && this.#options.forward?.(call)) return;
    const error = this.#toApiError(call, thrown);
    if (error.code === 'server_error') {
      const failure = describeFailure(error.cause ?? thrown);
      this.#options.log.error(
        { request_id: call.requestId, endpoint: call.endpoint?.id, failure },
        'request failed unexpectedly',
      );
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    this.#options.onFailure(call, error);
    const { status, headers, body } = errorAnswer(error, {
      surface: call.surface,
      requestId: call.requestId,
      unauthorizedType: call.endpoint?.unauthorizedType,
    });
    this.#write(call, status, headers, body);
    discardBody(call.request, this.#options.limits);
  }

  /** Writes a response without a body, for example to a preflight request. */
  empty(call: ServerCall, headers: Record<string, string>): void {
    this.#write(call, 204, headers, undefined);
  }

  #toApiError(call: ServerCall, thrown: unknown): ApiError {
    // A handler that is aborted because the daemon stops can throw anything.
    if (call.endReason === 'draining' && !(thrown instanceof ApiError)) {
      return new ApiError('unavailable', { retryAfterSeconds: 1 });
    }
    const error = asApiError(thrown);
    const { endpoint } = call;
    if (this.#options.strictErrors && endpoint && !answerableCodes(endpoint).includes(error.code)) {
      const cause = new Error(`${endpoint.id} does not declare the error ${error.code}`, { cause: error });
      return new ApiError('server_error', { cause });
    }
    return error;
  }

  async #stream(call: ServerCall, reply: StreamReply): Promise<void> {
    const { response } = call;
    const head = { ...eventStreamHeaders, ...reply.headers };
    const writeHead = () => response.writeHead(200, this.#headers(call, head));
    this.streamsOpen += 1;
    try {
      if (call.request.method === 'HEAD') {
        writeHead();
        response.end();
        await reply.chunks[Symbol.asyncIterator]().return?.();
        return;
      }
      await writeEventStream(response, reply, {
        limits: this.#options.limits,
        startImmediately: call.endpoint?.stream?.always === true,
        // Only a stream of events may contain one.
        heartbeat: call.endpoint?.contentType === undefined ? call.endpoint?.stream?.heartbeat : '',
        stalled: this.#options.stalled,
        writeHead,
      });
    } catch (error) {
      this.fail(call, error);
    } finally {
      this.streamsOpen -= 1;
    }
  }

  /** Writes an answer, compressed if it is long and the client asks for that. */
  #answer(
    call: ServerCall,
    status: number,
    headers: Record<string, string>,
    body: string | Uint8Array,
  ): Promise<void> | undefined {
    if (body.length < compressedLengthMin || !isCompressible(headers)) {
      this.#write(call, status, headers, body);
      return undefined;
    }
    headers.vary = 'accept-encoding';
    const encoding = acceptedEncoding(call.headers['accept-encoding']);
    if (encoding !== undefined) return this.#compressed(call, status, headers, { body, encoding });
    this.#write(call, status, headers, body);
    return undefined;
  }

  async #compressed(
    call: ServerCall,
    status: number,
    headers: Record<string, string>,
    { body, encoding }: { body: string | Uint8Array; encoding: string },
  ): Promise<void> {
    const { endpoint } = call;
    const page = endpoint?.access.anonymous && endpoint.method === 'GET' ? endpoint.id : undefined;
    const compressed = await this.#compression.compress(body, { encoding, page });
    if (compressed) headers['content-encoding'] = encoding;
    this.#write(call, status, headers, compressed ?? body);
  }

  #write(
    call: ServerCall,
    status: number,
    headers: Record<string, string>,
    body: string | Uint8Array | undefined,
  ): void {
    const { response } = call;
    if (response.headersSent || response.destroyed) return;
    const head = this.#headers(call, headers);
    if (body !== undefined) {
      head['content-length'] = String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength);
    }
    response.writeHead(status, head);
    response.end(body);
    if (response.writableLength > this.#options.limits.streamBufferBytesMax) {
      disconnectWhenStalled(response, this.#options.limits.stalledReaderMs);
    }
  }

  #headers(call: ServerCall, headers: Record<string, string>): Record<string, string> {
    headers['x-request-id'] = call.requestId;
    // The name that Anthropic's SDKs read.
    if (call.surface === 'messages') headers['request-id'] = call.requestId;
    headers[versionHeader] = this.#options.version;
    const { caller } = call;
    if (caller.kind === 'key' && caller.previousSecret !== undefined)
      headers[keyExpiresHeader] = isoTime(caller.previousSecret.endsAt);
    if (call.corsOrigin !== undefined) {
      headers['access-control-allow-origin'] = call.corsOrigin;
      headers['access-control-expose-headers'] = '*';
      headers.vary = headers.vary === undefined ? 'origin' : `${headers.vary}, origin`;
    }
    if (this.#options.isDraining()) call.response.shouldKeepAlive = false;
    return headers;
  }
}
