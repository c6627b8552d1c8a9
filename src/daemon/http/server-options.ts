import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Caller, Handler } from '../handler.ts';
import type { Log } from './log.ts';
import type { HttpLimits } from './protection/limits.ts';
import type { Overload } from './protection/overload.ts';

/** What may be asked about a request before its body is read. */
export interface AuthenticationContext {
  /** What is being called; undefined where nothing is served. */
  endpoint: Endpoint | undefined;
  requestId: string;
  remoteAddress: string;
  /** The workspace that the caller wants to act in: the header `x-workspace-id`. */
  workspace?: string | string[] | undefined;
}

/**
 * Tells who calls by the value of the Authorization header, or throws an ApiError. Without a promise in the common
 * case, a request costs one turn of the event loop less.
 */
export type Authenticate = (
  authorization: string | undefined,
  context: AuthenticationContext,
) => Caller | Promise<Caller>;

/** One answered request, for metrics. */
export interface FinishedRequest {
  /** Undefined where nothing is served, and for requests that were refused before it was known. */
  endpoint: Endpoint | undefined;
  method: string;
  status: number;
  durationMs: number;
  requestId: string;
  caller: Caller;
  /** Whether the connection ended before the answer did. */
  aborted: boolean;
}

export interface HttpServerOptions {
  handlers: readonly Handler[];
  authenticate: Authenticate;
  makeRequestId: () => string;
  log: Log;
  /** Of the program; every answer carries it as `x-service-version`. */
  version: string;
  /** Names that the daemon is reached by, beside loopback and the address it listens on: `gateway.lan[:8080]`. */
  allowedHosts?: readonly string[];
  /** Origins whose pages may call: `https://app.example`. Without any, no CORS header is ever sent. */
  allowedOrigins?: readonly string[];
  limits?: Partial<HttpLimits>;
  /** Whether new work is refused when there is more than can be done; true unless told. */
  shedsLoad?: boolean;
  /** Whether the disk is: then nothing new is taken. It never is unless told. */
  isDiskFull?: () => boolean;
  /** Another judge of the load than one that is well at first. */
  overload?: Overload;
  onFinish?: (finished: FinishedRequest) => void;
  /** Told of the header `traceparent` of a request that has one. */
  onParent?: ((requestId: string, header: string | string[]) => void) | undefined;
  /** For tests: a failure whose code the endpoint does not declare becomes a 500. */
  strictErrors?: boolean;
}
