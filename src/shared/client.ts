import type { Endpoint, Input, Result } from './contract/endpoint.ts';
import { receivedError } from './faults/received-error.ts';
import { type SseEvent, SseReader } from './http/sse.ts';
import { trimEnd } from './text/trim-text.ts';

/**
 * The typed HTTP client. It knows contracts but no transport: `send` is injected, so a Unix socket, a remote host and a
 * test differ in one function.
 */
export interface ClientRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
}

export interface ClientAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Breaking out of the iteration ends the call. */
  body: AsyncIterable<Uint8Array>;
}

/** Performs one HTTP call. Rejects when there is no response, and with the signal's reason when it was aborted. */
export type Send = (request: ClientRequest) => Promise<ClientAnswer>;

/**
 * An endpoint without its schemas: method, path and, as a type, input and result. The compiler checks both against the
 * contract, so commands that must start fast need not load the schemas.
 */
export interface Address<E extends Endpoint = Endpoint> {
  readonly method: E['method'];
  readonly path: E['path'];
  /** Never set; it only carries the type. */
  readonly contract?: E;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Additional request headers. */
  headers?: Readonly<Record<string, string>>;
  /** Called with the response headers of a successful call, before its body is read. */
  onOpen?: (headers: Record<string, string>) => void;
}

export interface Client {
  /** Resolves to the response body. Throws ReceivedError when the service returns an error. */
  call<E extends Endpoint>(
    endpoint: E | Address<E>,
    input: Input<E>,
    options?: CallOptions,
    // Inferring the endpoint from how the result is used would cost the compiler 150,000 types.
  ): Promise<NoInfer<Result<E>>>;
  /** Yields the body of an answer that is no JSON, as it arrives. Throws like `call`. */
  text<E extends Endpoint>(
    endpoint: E | Address<E>,
    input: Input<E>,
    options?: CallOptions,
  ): AsyncGenerator<string, void>;
  /**
   * Yields the events of a stream until it ends; `data: [DONE]` ends it and is not yielded. Throws ReceivedError when
   * the service returns an error before the stream starts. Breaking out of the loop, or aborting the signal, ends the
   * call.
   */
  stream<E extends Endpoint>(
    endpoint: E | Address<E>,
    input: Input<E>,
    options?: CallOptions,
  ): AsyncGenerator<SseEvent, void>;
}

/** The response did not come from this service: the address is wrong, or a proxy answered. */
export class NotTheService extends Error {
  constructor(url: string) {
    super(`${url} does not respond like a gateway.`);
    this.name = 'NotTheService';
  }
}

/** A parameter of a path is empty, or a dotted segment that would lead to another path. */
export class InvalidPathParameter extends TypeError {
  readonly parameter: string;
  readonly value: string;

  constructor(parameter: string, value: string) {
    super(`${JSON.stringify(value)} is not a valid ${parameter}`);
    this.name = 'InvalidPathParameter';
    this.parameter = parameter;
    this.value = value;
  }
}

/** A body is nested so deeply that it cannot be written as JSON; the service accepts 64 levels. */
export class TooDeep extends RangeError {
  constructor() {
    super('The input is nested too deeply: at most 64 levels are accepted.');
    this.name = 'TooDeep';
  }
}

function bodyText(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw error instanceof RangeError ? new TooDeep() : error;
  }
}

export interface ClientOptions {
  /** `http://127.0.0.1:4100`; a path in it is prepended to the endpoint's path. */
  baseUrl: string;
  /** Sent as a bearer token; a function is called once, on the first call. */
  token?: string | (() => Promise<string | undefined>) | undefined;
  /** The workspace to act in, by id or slug; default: the login's own workspace. */
  workspace?: string | undefined;
  send: Send;
  /** Called with the headers of every response. */
  onHeaders?: (headers: Record<string, string>) => void;
}

/** Maximum size of a body that is buffered, in bytes. */
export const answerBytesMax = 64 * 1024 * 1024;

export function createClient({ baseUrl, token, workspace, send, onHeaders }: ClientOptions): Client {
  const base = trimEnd(baseUrl, '/');
  let asked: Promise<string | undefined> | undefined;
  const bearer = () => {
    if (typeof token !== 'function') return token;
    asked ??= token();
    return asked;
  };

  const open = async (endpoint: Address, input: AnyInput, accept: string, options: CallOptions) => {
    const headers: Record<string, string> = { accept };
    const secret = await bearer();
    if (secret) headers.authorization = `Bearer ${secret}`;
    if (workspace) headers['x-workspace-id'] = workspace;
    for (const [name, value] of Object.entries(input.headers ?? {})) {
      if (value !== undefined && value !== null) headers[name] = String(value);
    }
    Object.assign(headers, options.headers);
    const request: ClientRequest = {
      method: endpoint.method,
      url: base + pathOf(endpoint.path, input.params ?? {}) + queryOf(input.query ?? {}),
      headers,
    };
    if (input.body !== undefined) {
      headers['content-type'] = 'application/json';
      request.body = bodyText(input.body);
    }
    if (options.signal) request.signal = options.signal;
    const answer = await send(request);
    onHeaders?.(answer.headers);
    if (answer.status < 200 || answer.status > 299) {
      const text = await readText(answer.body);
      throw receivedError(answer.status, answer.headers, text, endpoint.path, input.params);
    }
    options.onOpen?.(answer.headers);
    return answer;
  };

  return {
    async call(endpoint, input, options = {}) {
      const answer = await open(endpoint, input as AnyInput, 'application/json', options);
      const text = await readText(answer.body);
      try {
        return JSON.parse(text);
      } catch {
        throw new NotTheService(base);
      }
    },
    async *text(endpoint, input, options = {}) {
      const answer = await open(endpoint, input as AnyInput, '*/*', options);
      const decoder = new TextDecoder();
      for await (const bytes of answer.body) yield decoder.decode(bytes, { stream: true });
      yield decoder.decode();
    },
    async *stream(endpoint, input, options = {}) {
      const answer = await open(endpoint, input as AnyInput, 'text/event-stream', options);
      if (!answer.headers['content-type']?.startsWith('text/event-stream')) {
        // Start reading and stop, so that the connection returns to the pool.
        for await (const _bytes of answer.body) break;
        throw new NotTheService(base);
      }
      yield* eventsOf(answer.body);
    },
  };
}

interface AnyInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent, void> {
  const reader = new SseReader();
  for await (const bytes of body) {
    for (const event of reader.push(bytes)) {
      if (event.data === '[DONE]') return;
      yield event;
    }
  }
}

/** Fills `{name}` with one encoded segment and `{name...}` with several. */
export function pathOf(template: string, params: Record<string, unknown>): string {
  return template.replace(/\{(\w+)(\.\.\.)?\}/g, (_, name: string, rest: string | undefined) => {
    const value = String(params[name] ?? '');
    const segments = rest ? value.split('/') : [value];
    // An empty or dotted segment would change the path.
    if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
      throw new InvalidPathParameter(name, value);
    }
    return segments.map(encodeURIComponent).join('/');
  });
}

function queryOf(query: Record<string, unknown>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined || one === null) continue;
      parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`);
    }
  }
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const bytes of body) {
    length += bytes.length;
    if (length > answerBytesMax) throw new RangeError(`the response is longer than ${answerBytesMax} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
