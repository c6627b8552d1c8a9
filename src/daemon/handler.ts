import type {
  Body,
  Endpoint,
  Message,
  Params,
  Query,
  Result,
  ScopeName,
} from '../shared/contract/endpoint.ts';
import type { CacheMode } from '../shared/contract/key-defaults.ts';
import type { ActionName } from '../shared/contract/key-limits.ts';
import { ApiError } from '../shared/errors.ts';
import type { NanoUsd } from '../shared/money.ts';

/** Who is calling, told by the credential alone. */
export type Caller = Nobody | KeyCaller | LoginCaller | TokenCaller;

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
  /** Undefined: it is held to nothing. */
  restraints?: KeyRestraints;
  /** Aborted when the key is revoked or expires, so that running streams end; the reason is what callers are told. */
  revoked: AbortSignal;
}

/**
 * What the owner of a key allows it: prices per million tokens, times in milliseconds since 1970, days and months of UTC;
 * null where nothing is limited.
 */
export interface KeyLimits {
  spendCap: { amount: NanoUsd; period: 'day' | 'month' | 'total' } | null;
  maxPrice: { input: NanoUsd | null; output: NanoUsd | null } | null;
  /** Ids, with `*` for any characters. */
  models: string[] | null;
  requestsPerMinute: number | null;
  expiresAt: number | null;
}

/** What holds for a key's calls that do not say; null where the host decides. */
export interface KeyDefaults {
  cache: CacheMode | null;
  /** Whether responses are stored. */
  store: boolean | null;
}

/** What a key is held to, and the key that issued it; what the owner changes shows at once. */
export interface KeyRestraints {
  readonly keyId: string;
  readonly parent: KeyRestraints | undefined;
  /** Fixed when it was issued. */
  readonly models: readonly string[] | null;
  readonly actions: readonly ActionName[] | null;
  readonly limits: KeyLimits | null;
  readonly defaults: KeyDefaults | null;
  /** Whether it, or a key that it descends from, is held to anything. */
  readonly isBound: boolean;
}

/** A person who is logged in; `workspaceId` is the person's own workspace, the one that `me` names. */
export interface LoginCaller {
  kind: 'login';
  loginId: string;
  userId: string;
  workspaceId: string;
  revoked: AbortSignal;
}

/** A personal access token: it calls the site API alone, for its user. */
export interface TokenCaller {
  kind: 'token';
  tokenId: string;
  userId: string;
  /** The user's own workspace. */
  workspaceId: string;
  /** `*` stands for all. */
  abilities: ReadonlySet<string>;
  /** Milliseconds since 1970; null: it does not expire. */
  expiresAt: number | null;
  revoked: AbortSignal;
}

/** The caller of an endpoint that is not for everybody; the server has turned the others away before. */
export function identified(caller: Caller): KeyCaller | LoginCaller {
  if (caller.kind === 'nobody' || caller.kind === 'token') throw new ApiError('unauthenticated');
  return caller;
}

/** Whoever calls the site API for a person: the person themselves, a token of theirs, or a key that they own. */
export function acting(caller: Caller): { userId: string; workspaceId: string; revoked: AbortSignal } {
  if (caller.kind === 'nobody') throw new ApiError('unauthenticated');
  const { workspaceId, revoked } = caller;
  return { userId: caller.kind === 'key' ? caller.ownerId : caller.userId, workspaceId, revoked };
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
  /** The address that the connection comes from; `unix` where it came by the Unix socket. */
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
  /** 200 unless told: for protocols with failures of their own. */
  readonly status: number;

  constructor(headers: Record<string, string>, body: string | Uint8Array, status = 200) {
    this.headers = headers;
    this.body = body;
    this.status = status;
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

/** One message of a client on an open socket, validated; each is answered before the next is taken. */
export interface Turn<M> {
  /** As the credential says it now: a key may have changed since the socket was opened. */
  caller: Caller;
  /** Of this turn alone. */
  requestId: string;
  message: M;
  /** As that of a call. */
  signal: AbortSignal;
}

/** A socket that is open: it answers each message by a stream of events, which travel as one frame each. */
export class SocketReply<M> {
  readonly take: (turn: Turn<M>) => Promise<StreamReply>;
  /** Told of each message that was refused, by `take` or before it came to that, as far as it could be read. */
  readonly refused: (message: unknown) => void;

  constructor(take: (turn: Turn<M>) => Promise<StreamReply>, refused: (message: unknown) => void = () => {}) {
    this.take = take;
    this.refused = refused;
  }
}

type Reply<E extends Endpoint> = E['socket'] extends object
  ? SocketReply<Message<E>>
  : E['stream'] extends object
    ? Result<E> | RelayReply | StreamReply
    : Result<E> | RelayReply;

export interface Handler {
  endpoint: Endpoint;
  // The server hands each handler input that its own contract has validated.
  // biome-ignore lint/suspicious/noExplicitAny: the relation between endpoint and call is kept by `implement`.
  handle: (call: any) => Promise<unknown>;
  /** Fails for whoever may not call, before query and body are read; `handle` sees to it by itself all the same. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  permit?: ((call: any) => Promise<unknown>) | undefined;
}

/** Ties a plain function to the endpoint whose contract it fulfils. */
export function implement<const E extends Endpoint, const R extends Reply<E>>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<R>,
  permit?: (call: Pick<Call<E>, 'caller' | 'params'>) => Promise<unknown>,
): Handler {
  return { endpoint, handle, permit };
}
