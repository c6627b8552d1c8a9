import type { CaptureLevel } from '../../shared/constants/capture-levels.ts';
import type {
  Body,
  Endpoint,
  Message,
  Params,
  Query,
  Result,
  ScopeName,
} from '../../shared/contract/endpoint.ts';
import type { CacheMode } from '../../shared/contract/key-defaults.ts';
import type { ActionName } from '../../shared/contract/key-limits.ts';
import { ApiError } from '../../shared/errors.ts';
import type { NanoUsd } from '../../shared/money/money.ts';
import type { SpendCalendar } from '../../shared/money/spend-periods.ts';

/** The caller, according to the credential. */
export type Caller = AnonymousCaller | KeyCaller | LoginCaller | AgentCaller | TokenCaller | AutopilotCaller;

/** A caller with a workspace, for which models can be called. */
export type Identified = KeyCaller | LoginCaller | AgentCaller | AutopilotCaller;

/** A caller who acts for a user. */
export type KeyOrLogin = KeyCaller | LoginCaller;

export interface AnonymousCaller {
  kind: 'anonymous';
}

/** An API key of a workspace. */
export interface KeyCaller {
  kind: 'key';
  keyId: string;
  workspaceId: string;
  /** The user who issued the key. */
  ownerId: string;
  scopes: ReadonlySet<ScopeName>;
  /** Undefined for a key without limits. */
  policy?: KeyPolicy;
  /** Set if the caller used a secret that was replaced. */
  previousSecret?: { digest: string; endsAt: number } | undefined;
  /** Aborted when the key is revoked or paused, or when it or the secret expires, so that running streams end; the reason is the error to return. */
  revoked: AbortSignal;
}

/** What a key may spend. */
export interface SpendCap {
  amount: NanoUsd;
  period: 'day' | 'week' | 'month' | 'total';
  /** When its periods begin; those of UTC without it. */
  calendar?: SpendCalendar | undefined;
}

/** The limits that a key's owner can change: prices per million tokens, times in milliseconds since 1970; null for no limit. */
export interface KeyLimits {
  spendCap: SpendCap | null;
  maxPrice: { input: NanoUsd | null; output: NanoUsd | null } | null;
  /** Ids, with `*` for any characters. */
  models: string[] | null;
  requestsPerMinute: number | null;
  expiresAt: number | null;
  /** Calls that run at a time; absent in records of earlier versions, as the next one. */
  concurrency?: number | null;
  /** How long others wait at most; null for the usual time. */
  queueSeconds?: number | null;
}

/** The defaults for a key's calls; null where the host decides. */
export interface KeyDefaults {
  cache: CacheMode | null;
  /** Whether responses are stored. */
  store: boolean | null;
  /** Whether streams carry `service:*` events. */
  events: boolean | null;
  /** The most of the content of calls that is kept; absent in records of earlier versions. */
  capture?: CaptureLevel | null;
}

/** The restrictions and defaults of a key, and of the key that issued it. Changes by the owner apply immediately. */
export interface KeyPolicy {
  readonly keyId: string;
  readonly parent: KeyPolicy | undefined;
  /** Fixed when the key is issued. */
  readonly models: readonly string[] | null;
  readonly actions: readonly ActionName[] | null;
  readonly limits: KeyLimits | null;
  readonly defaults: KeyDefaults | null;
  /** Since when its calls are refused; absent for what cannot be paused. */
  readonly pausedAt?: number | null;
  /** Whether this key, or one that it descends from, has any restriction. */
  readonly isRestricted: boolean;
  /** Set if `keyId` is that of an autopilot, whose cap is named differently in errors and events. */
  readonly isAutopilot?: true;
}

/** A logged-in user. `workspaceId` is the user's own workspace, the one that `me` names. */
export interface LoginCaller {
  kind: 'login';
  loginId: string;
  userId: string;
  workspaceId: string;
  revoked: AbortSignal;
}

/** An agent, by its only key. */
export interface AgentCaller {
  kind: 'agent';
  agentId: string;
  /** A workspace of its own, without members. */
  workspaceId: string;
  revoked: AbortSignal;
}

/** A personal access token: it calls only the site API, on behalf of its user. */
export interface TokenCaller {
  kind: 'token';
  tokenId: string;
  userId: string;
  /** The user's own workspace. */
  workspaceId: string;
  /** `*` includes all. */
  abilities: ReadonlySet<string>;
  /** Milliseconds since 1970; null for a token that does not expire. */
  expiresAt: number | null;
  revoked: AbortSignal;
}

/**
 * An autopilot in one of its runs. It calls models with the rights of the credential that started the run, whose access was
 * checked then.
 */
export interface AutopilotCaller {
  kind: 'autopilot';
  autopilotId: string;
  /** The key, login or token that started the run; the autopilot itself if its schedule did. Its calls are recorded with it. */
  credentialId: string;
  /** The user for whom it acts. */
  userId: string;
  workspaceId: string;
  /** The spending cap of the autopilot; its parent is the policy of the key that started the run. */
  policy: KeyPolicy;
  revoked: AbortSignal;
}

/** Rejects a key that is known but revoked, paused or expired, so that the call can be reported to its workspace. */
export class KeyRefused extends ApiError {
  readonly key: { keyId: string; workspaceId: string };

  constructor({ keyId, workspaceId }: KeyRefused['key'], { code, message, param }: ApiError) {
    super(code, { message, param });
    this.key = { keyId, workspaceId };
  }
}

/** The caller of an endpoint that needs a key, a login or an agent; the server rejects the others beforehand. */
export function identified(caller: Caller): Identified {
  if (caller.kind === 'anonymous' || caller.kind === 'token') throw new ApiError('unauthenticated');
  return caller;
}

/** The caller of an endpoint that needs a key or a login. */
export function keyOrLogin(caller: Caller): KeyOrLogin {
  const known = identified(caller);
  if (known.kind === 'agent' || known.kind === 'autopilot') throw new ApiError('permission');
  return known;
}

/** The id of the key, login or agent that calls, or for which an autopilot does. */
export function credentialId(caller: Identified): string {
  if (caller.kind === 'autopilot') return caller.credentialId;
  if (caller.kind === 'agent') return caller.agentId;
  return caller.kind === 'key' ? caller.keyId : caller.loginId;
}

/** The caller of an endpoint that needs a login. */
export function loginOf(caller: Caller): LoginCaller {
  if (caller.kind !== 'login') throw new ApiError('signed_out');
  return caller;
}

/** The workspace of a caller with any credential. */
export function workspaceOf(caller: Caller): string {
  if (caller.kind === 'anonymous') throw new ApiError('unauthenticated');
  return caller.workspaceId;
}

/** A user, in one of their workspaces. */
export interface ActingUser {
  userId: string;
  workspaceId: string;
}

/** The user on whose behalf the daemon is called: by a login, a token or a key. */
export function actingUser(caller: Caller): ActingUser & { revoked: AbortSignal } {
  if (caller.kind === 'anonymous') throw new ApiError('unauthenticated');
  if (caller.kind === 'agent') throw new ApiError('permission');
  const { workspaceId, revoked } = caller;
  return { userId: caller.kind === 'key' ? caller.ownerId : caller.userId, workspaceId, revoked };
}

/** One call as a handler sees it: validated input, and only the parts of HTTP that the contract names. */
export interface Call<E extends Endpoint> {
  caller: Caller;
  requestId: string;
  params: Params<E>;
  query: Query<E>;
  body: Body<E>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query, as they were sent. */
  target?: string;
  /** The body before parsing. */
  rawBody?: Uint8Array;
  /** Whether a model calls it, as a tool. */
  isTool?: true;
  /** The client's address; `unix` for the Unix socket. */
  remoteAddress?: string;
  /** Whether a trusted proxy sent it, whatever address that named. */
  isProxied?: boolean;
  /**
   * Aborted when the client leaves before its answer is complete (reason `client-left`), or when the daemon stops and
   * its grace period is over (reason `draining`: the client is still connected and gets an error).
   */
  signal: AbortSignal;
}

/** An answer that is already serialised. */
export class RelayReply {
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;
  /** Differs from 200 for protocols with their own failures. */
  readonly status: number;

  constructor(headers: Record<string, string>, body: string | Uint8Array, status = 200) {
    this.headers = headers;
    this.body = body;
    this.status = status;
  }

  withHeaders(headers: Record<string, string>): RelayReply {
    return new RelayReply({ ...this.headers, ...headers }, this.body, this.status);
  }
}

/**
 * A stream of server-sent events, or of text of another type. Each chunk is one or more whole events, blank lines included. A first chunk that is empty
 * starts the stream, with a sign of life.
 */
export class StreamReply {
  readonly headers: Record<string, string>;
  readonly chunks: AsyncIterable<string>;

  constructor(headers: Record<string, string>, chunks: AsyncIterable<string>) {
    this.headers = headers;
    this.chunks = chunks;
  }

  withHeaders(headers: Record<string, string>): StreamReply {
    return new StreamReply({ ...this.headers, ...headers }, this.chunks);
  }
}

/** A validated client message on an open socket; each is answered before the next is read. */
export interface Turn<M> {
  /** The current state of the credential, which may have changed since the socket was opened. */
  caller: Caller;
  /** Unique to this turn. */
  requestId: string;
  message: M;
  /** The client's address; `unix` for the Unix socket. */
  remoteAddress?: string;
  /** As in `Call`. */
  signal: AbortSignal;
}

/** An open socket: it answers each message with a stream of events, one frame each. */
export class SocketReply<M> {
  readonly answer: (turn: Turn<M>) => Promise<StreamReply>;
  /** Called with each rejected message, as far as it could be parsed. */
  readonly onRejected: (message: unknown) => void;

  constructor(
    answer: (turn: Turn<M>) => Promise<StreamReply>,
    onRejected: (message: unknown) => void = () => {},
  ) {
    this.answer = answer;
    this.onRejected = onRejected;
  }
}

type Reply<E extends Endpoint> = E['socket'] extends object
  ? SocketReply<Message<E>>
  : E['stream'] extends object
    ? Result<E> | RelayReply | StreamReply
    : E['contentType'] extends readonly string[]
      ? StreamReply
      : Result<E> | RelayReply;

export interface Handler {
  endpoint: Endpoint;
  // The server validates the input by the endpoint's contract.
  // biome-ignore lint/suspicious/noExplicitAny: `implement` keeps the relation between endpoint and call.
  handle: (call: any) => Promise<unknown>;
  /**
   * Rejects callers without permission before query and body are read. `handle` checks permission itself, too: a membership
   * may end while a body is read.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  permit?: ((call: any) => Promise<unknown>) | undefined;
}

/** Binds a function to the endpoint whose contract it implements. */
export function implement<const E extends Endpoint, const R extends Reply<E>>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<R>,
  permit?: (call: Pick<Call<E>, 'caller' | 'params'>) => Promise<unknown>,
): Handler {
  return { endpoint, handle, permit };
}
