import type { Body, Endpoint, Params, Query, Result, ScopeName } from '../shared/contract/endpoint.ts';
import { ApiError } from '../shared/errors.ts';

/** Who is calling, told by the credential alone. */
export type Caller = Nobody | KeyCaller | LoginCaller;

export interface Nobody {
  kind: 'nobody';
}

/** An API key of a workspace. */
export interface KeyCaller {
  kind: 'key';
  keyId: string;
  workspaceId: string;
  /** The user who issued the key. */
  ownerId: string;
  scopes: ReadonlySet<ScopeName>;
  /** Aborted when the key is revoked, so that running streams end. */
  revoked: AbortSignal;
}

/** A person who is logged in; `workspaceId` is the person's own workspace, the one that `me` names. */
export interface LoginCaller {
  kind: 'login';
  loginId: string;
  userId: string;
  workspaceId: string;
  revoked: AbortSignal;
}

/** The caller of an endpoint that is not for everybody; the server has turned the others away before. */
export function identified(caller: Caller): KeyCaller | LoginCaller {
  if (caller.kind === 'nobody') throw new ApiError('unauthenticated');
  return caller;
}

/** One call as a handler sees it: validated input, and nothing of HTTP but what the contract names. */
export interface Call<E extends Endpoint> {
  caller: Caller;
  requestId: string;
  params: Params<E>;
  query: Query<E>;
  body: Body<E>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came, before it was parsed. */
  rawBody?: Uint8Array;
  /** The address that the connection comes from. */
  remoteAddress?: string;
  /**
   * Aborted when the client leaves before its answer is complete (reason `client-left`), or when the daemon stops and
   * will wait no longer (reason `draining`: the client is still there and can be told).
   */
  signal: AbortSignal;
}

/** An answer that is already bytes: it passes the response serialiser. */
export class RelayReply {
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;

  constructor(headers: Record<string, string>, body: string | Uint8Array) {
    this.headers = headers;
    this.body = body;
  }
}

/** A stream of server-sent events. Each chunk is one or more whole events, blank lines included. */
export class StreamReply {
  readonly headers: Record<string, string>;
  readonly chunks: AsyncIterable<string>;

  constructor(headers: Record<string, string>, chunks: AsyncIterable<string>) {
    this.headers = headers;
    this.chunks = chunks;
  }
}

type Reply<E extends Endpoint> = E['stream'] extends object
  ? Result<E> | RelayReply | StreamReply
  : Result<E> | RelayReply;

export interface Handler {
  endpoint: Endpoint;
  // The server hands each handler input that its own contract has validated.
  // biome-ignore lint/suspicious/noExplicitAny: the relation between endpoint and call is kept by `implement`.
  handle: (call: any) => Promise<unknown>;
}

/** Ties a plain function to the endpoint whose contract it fulfils. */
export function implement<const E extends Endpoint, const R extends Reply<E>>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<R>,
): Handler {
  return { endpoint, handle };
}
