import type { Endpoint, Input, Result } from './contract/endpoint.ts';
import { receivedError } from './received-error.ts';
import { type SseEvent, SseReader } from './sse.ts';

/**
 * The one typed client. It knows contracts and nothing of sockets: `send` is handed in, so that a socket, a remote host
 * and a test differ in one function.
 */
export interface ClientRequest {
  method: Endpoint['method'];
  url: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export interface ClientAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Leaving the iteration early ends the call. */
  body: AsyncIterable<Uint8Array>;
}

/** One HTTP call. Rejects when there is no answer at all, and with the signal's reason when it was aborted. */
export type Send = (request: ClientRequest) => Promise<ClientAnswer>;

/**
 * An endpoint without its schemas: where to call, and, in its type, what goes in and out. The type holds method and path to the
 * contract, so that a caller that must start fast need not load the schemas, and still cannot differ from them.
 */
export interface Address<E extends Endpoint = Endpoint> {
  readonly method: E['method'];
  readonly path: E['path'];
  /** Never set: it carries the type. */
  readonly contract?: E;
}

/** `address<typeof issueKey>('POST', '/v1/workspaces/{workspace}/keys')` compiles only while the contract says the same. */
export function address<E extends Endpoint>(method: E['method'], path: E['path']): Address<E> {
  return { method, path };
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Told of the headers of a call that was accepted, before its body is read. */
  onOpen?: (headers: Record<string, string>) => void;
}

export interface Client {
  /** Resolves to the answer's body. Throws ReceivedError when the service refuses or fails. */
  call<E extends Endpoint>(
    endpoint: E | Address<E>,
    input: Input<E>,
    options?: CallOptions,
  ): Promise<Result<E>>;
  /**
   * Yields the events of a stream until it ends; `data: [DONE]` ends it and is not yielded. Throws ReceivedError when the service
   * refuses before the stream starts. Leaving the loop early, or aborting the signal, ends the call.
   */
  stream<E extends Endpoint>(
    endpoint: E | Address<E>,
    input: Input<E>,
    options?: CallOptions,
  ): AsyncGenerator<SseEvent, void>;
}

/** What answered is not this service: the address is wrong, or something stands in between. */
export class NotTheService extends Error {
  constructor(url: string) {
    super(`${url} does not answer as a gateway does.`);
    this.name = 'NotTheService';
  }
}

export interface ClientOptions {
  /** `http://127.0.0.1:4100`; a path in it is kept in front of the endpoint's own. */
  baseUrl: string;
  /** Sent as a bearer token; a function is asked once, at the first call. */
  token?: string | (() => Promise<string | undefined>) | undefined;
  /** The workspace to act in, by id or slug; the login's own unless told. */
  workspace?: string | undefined;
  send: Send;
  /** Told of the headers of every answer. */
  onHeaders?: (headers: Record<string, string>) => void;
}

/** Longest body that is read whole, in bytes. */
export const answerBytesMax = 64 * 1024 * 1024;

export function createClient({ baseUrl, token, workspace, send, onHeaders }: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '');
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
    const request: ClientRequest = {
      method: endpoint.method,
      url: base + pathOf(endpoint.path, input.params ?? {}) + queryOf(input.query ?? {}),
      headers,
    };
    if (input.body !== undefined) {
      headers['content-type'] = 'application/json';
      request.body = JSON.stringify(input.body);
    }
    if (options.signal) request.signal = options.signal;
    const answer = await send(request);
    onHeaders?.(answer.headers);
    if (answer.status < 200 || answer.status > 299) {
      throw receivedError(answer.status, answer.headers, await readText(answer.body), endpoint.path);
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
    async *stream(endpoint, input, options = {}) {
      const answer = await open(endpoint, input as AnyInput, 'text/event-stream', options);
      if (!answer.headers['content-type']?.startsWith('text/event-stream')) {
        // Begun and left, so that the connection is given back.
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
    // An empty or dotted segment would name another path than the contract's.
    if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
      throw new TypeError(`"${value}" cannot stand for ${name} in ${template}`);
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
    if (length > answerBytesMax) throw new RangeError(`the answer is longer than ${answerBytesMax} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
