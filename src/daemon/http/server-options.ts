import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { FailedRequest } from '../base/failed-request.ts';
import type { Caller, Handler } from '../base/handler.ts';
import type { Log } from '../base/log.ts';
import type { Cuttable } from './event-stream.ts';
import type { HttpLimits } from './protection/limits.ts';
import type { Overload } from './protection/overload.ts';

/** What is known about a request before its body is read. */
export interface AuthenticationContext {
  /** The endpoint called; undefined if none matches. */
  endpoint: Endpoint | undefined;
  requestId: string;
  remoteAddress: string;
  /** The workspace to act in: the header `x-workspace-id`. */
  workspace?: string | string[] | undefined;
}

/**
 * Identifies the caller by the Authorization header, or throws an ApiError. Returning no promise in the common case
 * saves a turn of the event loop per request.
 */
export type Authenticate = (
  authorization: string | undefined,
  context: AuthenticationContext,
) => Caller | Promise<Caller>;

/** An answered request, for metrics. */
export interface FinishedRequest {
  /** Undefined if no endpoint matches, and for requests rejected before it was known. */
  endpoint: Endpoint | undefined;
  method: string;
  url: string;
  status: number;
  durationMs: number;
  requestId: string;
  caller: Caller;
  /** Whether the connection ended before the response did. */
  aborted: boolean;
  /** Set if it failed; without an error if the client left before the answer began. */
  failure: { error: ApiError | undefined } | undefined;
}

/** Another thread of this process, which serves what this one does not. */
export interface OtherThread {
  /** Whether a request is served here, by its head. */
  isServedHere(request: IncomingMessage): boolean;
  /** Whether only this thread can answer a request: its call has been admitted here. */
  isKept(requestId: string): boolean;
  /** The Unix socket on which it serves the others. */
  socketFile: string;
}

export interface HttpServerOptions {
  handlers: readonly Handler[];
  authenticate: Authenticate;
  makeRequestId: () => string;
  log: Log;
  /** The program's version, sent with every response as `x-service-version`. */
  version: string;
  /** Accepted host names besides loopback and the address listened on: `gateway.lan[:8080]`. */
  allowedHosts?: readonly string[];
  /** Addresses and networks of proxies that name their clients in `X-Forwarded-For`; `unix` for those of the Unix socket. */
  trustedProxies?: readonly string[];
  /** The address that clients use behind a reverse proxy, whose host name is accepted, too; read on each request. */
  publicUrl?: () => string | undefined;
  /** Origins whose pages may call: `https://app.example`, `app://name`, `vscode-webview://*`, `null`. Without any, no CORS header is sent. */
  allowedOrigins?: readonly string[];
  limits?: Partial<HttpLimits>;
  /** Whether new work is rejected under overload; default true. */
  shedsLoad?: boolean;
  /** Whether the disk is full, in which case new work is rejected; default: never. */
  isDiskFull?: () => boolean;
  /** How many daemons share the limits per address; 1 by default. */
  daemonCount?: () => number;
  /** Replaces the default overload detection. */
  overload?: Overload;
  /** Where streams are listed while they wait for their reader. */
  stalled?: Set<Cuttable>;
  onFinish?: ((finished: FinishedRequest) => void) | undefined;
  /** Called at most once per request and per message, before `onFinish`. */
  onFailure?: ((failed: FailedRequest) => void) | undefined;
  /** Called with the `traceparent` header of each request that has one. */
  onParent?: ((requestId: string, header: string | string[]) => void) | undefined;
  /** Serves what this server does not, and gets what it has to refuse. */
  otherThread?: OtherThread | undefined;
  /** For tests: an undeclared error code becomes a 500. */
  strictErrors?: boolean;
}
