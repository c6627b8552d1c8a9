import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import type { Tag } from './api-texts.ts';

/** What an API key may be allowed to do. A key issued without scopes gets `defaultScopes`. */
export const scopeNames = [
  'responses',
  'models:read',
  'usage:read',
  'traces',
  'traces:read',
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

/** What a key does in the name, or by the role, of whoever owns it: gone when it passes to another owner. */
export const ownerScopes: readonly ScopeName[] = ['keys', 'billing', 'workspace'];

/** What an access token may do on the site API; `*` is everything. */
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

/** A login's part in a workspace; `any` asks for a login and nothing more. */
export type Role = 'owner' | 'admin' | 'member' | 'any';

/**
 * Who may call. A kind of caller that is not named is refused; a credential that is given and wrong is refused even
 * where nobody needs one.
 */
export interface Access {
  /** No credential is needed. */
  anonymous?: true;
  /** An API key with one of these scopes; `any` asks for none. */
  apiKey?: ScopeName | readonly ScopeName[] | 'any';
  login?: Role;
  /** An access token with this ability, or one that has `*`; `any` asks for none. */
  token?: Ability | 'any';
  agent?: true;
  /** Only a login will do: everything else is told `signed_out`. */
  loginOnly?: true;
}

/** How a successful answer travels, beside plain JSON. */
export interface StreamShape {
  /** What one `data:` line holds. */
  event: TSchema;
  /** Whether the stream is closed by `data: [DONE]`. */
  done: boolean;
  /** Whether the answer is always a stream; otherwise the body's `stream` decides. */
  always: boolean;
}

/** What goes over a WebSocket, a JSON text a frame; a `GET` of the same path opens it. */
export interface SocketShape {
  /** What a client sends; its `type` is a literal, and a message of another type is refused. */
  message: TSchema;
  /** What it is sent. */
  event: TSchema;
  /** In bytes: the longest message, and what may wait altogether. */
  messageLimit: number;
}

/** One endpoint of the service: the single place where its wire form is written down. */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for a segment and `{name...}` for a last part that may hold slashes. */
  readonly path: string;
  readonly summary: string;
  /** What a reader should know beside the summary, in Markdown; who may call is told from `access`. */
  readonly description?: string;
  /** Groups the endpoints of one domain in the reference; a new one gets its sentence in `tagDescriptions`. */
  readonly tag: Tag;
  readonly access: Access;
  /** `v1` and `site` differ in envelope and in the shape of failures. */
  readonly surface: 'v1' | 'site';
  /** The `type` of a 401: `unauthorized` on model routes, `authentication` elsewhere. */
  readonly unauthorizedType?: 'unauthorized' | 'authentication';
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly bodyRequired?: boolean;
  /** In bytes; 1 MiB unless told. */
  readonly bodyLimit?: number;
  /** Set where the handler reads the body itself, from its bytes: what is wrong with it is told in this form. */
  readonly ownFaults?: TSchema;
  /** Other methods of the path are told so (405), as its protocol asks, and not that there is nothing (404). */
  readonly otherMethods?: 'refused';
  readonly result: TSchema;
  readonly stream?: StreamShape;
  /** Set where the path is a WebSocket; a plain `GET` of it is then refused, and `result` stands for nothing. */
  readonly socket?: SocketShape;
  /** Answered also when the daemon has more to do than it can: it relieves something, ends something or tells how it is. */
  readonly underLoad?: 'kept';
  /** What a whole answer is made of when it is not JSON: `text/plain; version=0.0.4`. The result is then a string. */
  readonly contentType?: string;
  /** Headers of a successful answer, beside those of every answer: name in lower case → what it tells. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Every code that the endpoint itself may answer with; those of the server are added for all. */
  readonly errors: readonly ErrorCode[];
}

/** Declares an endpoint; the types of its parts are kept, so that handler, client and command are checked against it. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition;
}

/** The type of a schema. Of `TSchema` itself it is `unknown`: inferring that one costs the compiler 150,000 types. */
export type TypeOf<S extends TSchema> = TSchema extends S ? unknown : Static<S>;

type Part<E extends Endpoint, K extends 'params' | 'query' | 'headers' | 'body'> = E[K] extends TSchema
  ? TypeOf<E[K]>
  : undefined;

/** What a caller sends: only the parts that the endpoint declares. */
export type Input<E extends Endpoint> = {
  [K in 'params' | 'query' | 'headers' | 'body' as E[K] extends TSchema ? K : never]: Part<E, K>;
};

export type Params<E extends Endpoint> = Part<E, 'params'>;
export type Query<E extends Endpoint> = Part<E, 'query'>;
export type Body<E extends Endpoint> = Part<E, 'body'>;
/** What a client of a socket sends, validated. */
export type Message<E extends Endpoint> = E['socket'] extends SocketShape
  ? TypeOf<E['socket']['message']>
  : undefined;
export type Result<E extends Endpoint> = TypeOf<E['result']>;
