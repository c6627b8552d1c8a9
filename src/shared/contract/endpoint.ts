import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import type { Tag } from './api-texts.ts';

/** Scopes of API keys. A key issued without scopes gets `defaultScopes`. */
export const scopeNames = [
  'responses',
  'models:read',
  'usage:read',
  'traces',
  'traces:read',
  'content:read',
  'threads',
  'threads:read',
  'runs',
  'runs:read',
  'plugins',
  'keys',
  'billing',
  'workspace',
] as const;

export type ScopeName = (typeof scopeNames)[number];

export const defaultScopes: readonly ScopeName[] = ['responses', 'models:read', 'usage:read'];

/** Scopes exercised on behalf of the key's owner; removed when the key passes to another owner. */
export const ownerScopes: readonly ScopeName[] = ['keys', 'billing', 'workspace'];

/** Abilities of access tokens on the site API; `*` is all of them. */
export const abilityNames = [
  '*',
  'whispers:read',
  'whispers:write',
  'shouts:write',
  'autopilots:*',
  'profile',
  'chats:read',
  'chats:write',
  'payments',
] as const;

export type Ability = (typeof abilityNames)[number];

/** The role a login needs in the workspace; `any`: none in particular. */
export type Role = 'owner' | 'admin' | 'member' | 'any';

/**
 * Who may call. Kinds of callers not listed are rejected; an invalid credential is rejected even where none is
 * required.
 */
export interface Access {
  /** No credential is required; `unlimited`: nor are requests without one limited in their rate. */
  anonymous?: true | 'unlimited';
  /** An API key with one of these scopes; `any`: with any scopes. */
  apiKey?: ScopeName | readonly ScopeName[] | 'any';
  login?: Role;
  /** An access token with this ability or `*`; `any`: with any abilities. */
  token?: Ability | 'any';
  agent?: true;
  /** Other credentials are rejected with `signed_out`. */
  loginOnly?: true;
}

/** The streaming form of a successful response. */
export interface StreamShape {
  /** The schema of one `data:` line. */
  event: TSchema;
  /** Whether the stream ends with `data: [DONE]`. */
  done: boolean;
  /** The event that shows that the stream is alive; a comment by default. */
  heartbeat?: string;
  /** Whether the response is always a stream; otherwise `stream` in the body decides. */
  always: boolean;
}

/** Messages on a WebSocket, one JSON text per frame, opened by a `GET` of the path. */
export interface SocketShape {
  /** Schema of client messages; its `type` is a literal, and messages of other types are rejected. */
  message: TSchema;
  /** Types of messages that are accepted and need no answer. */
  unanswered?: readonly string[];
  /** Schema of server messages. */
  event: TSchema;
  /** Maximum size of a message and of all queued messages, in bytes. */
  messageLimit: number;
}

export type Surface = 'v1' | 'messages' | 'site';

/** The contract of one endpoint: the only definition of its wire format. */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` stands for one segment, `{name...}` for a trailing part that may contain slashes. */
  readonly path: string;
  readonly summary: string;
  /** Further description in Markdown; who may call is derived from `access`. */
  readonly description?: string;
  /** Groups endpoints in the reference; each tag has a sentence in `tagDescriptions`. */
  readonly tag: Tag;
  readonly access: Access;
  /** `v1`, `messages` (Anthropic's) and `site` differ in response envelope and error format. Follows from the path. */
  readonly surface: Surface;
  /** The `type` of a 401: `unauthorized` on model routes, `authentication` elsewhere. */
  readonly unauthorizedType?: 'unauthorized' | 'authentication';
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly bodyRequired?: boolean;
  /** In bytes; default 1 MiB. */
  readonly bodyLimit?: number;
  /** The error format of handlers that parse the body themselves. */
  readonly ownFaults?: TSchema;
  readonly result: TSchema;
  readonly stream?: StreamShape;
  /** Set if the path is a WebSocket; a plain `GET` is then rejected and `result` is unused. */
  readonly socket?: SocketShape;
  /** Set for endpoints that take payments; a `Payment` credential then stands in for the key that it was issued to. */
  readonly payable?: true;
  /** Set for endpoints that are served even under overload: they reduce load, stop something or report state. */
  readonly underLoad?: 'kept';
  /** The content type of a response other than JSON, such as `text/plain; version=0.0.4`. Several if the query decides. `result` is then a string, which may be sent as it is made. */
  readonly contentType?: string | readonly string[];
  /** Additional headers of a successful response: lowercase name → description. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Error codes that do not follow from the members above: `derivedCodes` has those. */
  readonly errors?: readonly ErrorCode[];
}

/** Declares an endpoint with precise types, so that handler, client and command are checked against it. */
export function endpoint<const E extends Omit<Endpoint, 'surface'>>(
  definition: E,
): E & Pick<Endpoint, 'surface'> {
  return { ...definition, surface: surfaceOf(definition.path) };
}

/** The surface that a path or the target of a request belongs to. */
export function surfaceOf(path: string): Surface {
  if (/^\/api(\/|$)/.test(path)) return 'site';
  return /^\/v1\/messages([/?]|$)/.test(path) ? 'messages' : 'v1';
}

/** The type of a schema. Of `TSchema` itself it is `unknown`: inferring that one costs the compiler 150,000 types. */
export type TypeOf<S extends TSchema> = TSchema extends S ? unknown : Static<S>;

type Part<E extends Endpoint, K extends 'params' | 'query' | 'headers' | 'body'> = E[K] extends TSchema
  ? TypeOf<E[K]>
  : undefined;

/** The input of a call: only the parts the endpoint declares. */
export type Input<E extends Endpoint> = {
  [K in 'params' | 'query' | 'headers' | 'body' as E[K] extends TSchema ? K : never]: Part<E, K>;
};

export type Params<E extends Endpoint> = Part<E, 'params'>;
export type Query<E extends Endpoint> = Part<E, 'query'>;
export type Body<E extends Endpoint> = Part<E, 'body'>;
/** A validated client message of a socket. */
export type Message<E extends Endpoint> = E['socket'] extends SocketShape
  ? TypeOf<E['socket']['message']>
  : undefined;
export type Result<E extends Endpoint> = TypeOf<E['result']>;
