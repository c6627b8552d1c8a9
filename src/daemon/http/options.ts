import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Caller, Handler } from '../handler.ts';
import type { Overload } from './overload.ts';

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

/** The part of a pino logger that is used here. */
export interface Log {
  info(data: object, message: string): void;
  warn(data: object, message: string): void;
  error(data: object, message: string): void;
}

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

/** Bounds in bytes, milliseconds and numbers. Source of the defaults: those of HAProxy and Envoy, tightened by tests. */
export interface HttpLimits {
  /** Of endpoints that name no bound of their own. */
  bodyBytesMax: number;
  jsonDepthMax: number;
  headerBytesMax: number;
  headersMax: number;
  pathParameterCharsMax: number;
  headersTimeoutMs: number;
  /** Until the whole request has arrived. */
  requestTimeoutMs: number;
  /** How often connections are looked at for the two times above. */
  connectionCheckMs: number;
  keepAliveTimeoutMs: number;
  requestsPerConnectionMax: number;
  /** Undefined: what the limit of open files leaves room for. */
  connectionsMax: number | undefined;
  /** How long the rest of a refused body is read and thrown away, so that its sender can read the refusal. */
  lingerMs: number;
  /** A stream that is silent for so long carries a comment, so that nothing between takes it for dead. */
  heartbeatMs: number;
  /** A reader who takes nothing for so long is cut off. */
  stalledReaderMs: number;
  /** What a stream may hold back for a slow reader before its source is paused. */
  streamBufferBytesMax: number;
  /** Messages that may wait on one socket while another is answered. */
  socketMessagesWaitingMax: number;
  /** How long a socket may be open. */
  socketLifetimeMs: number;
  /** After the deadline of a drain, for streams to write their last event. */
  drainGraceMs: number;
  /** Requests without a credential, of one address. */
  publicBurst: number;
  publicPerSecond: number;
  /** Streams of one address that are open without a credential. */
  publicStreamsMax: number;
}

export const httpLimits: HttpLimits = {
  bodyBytesMax: 1024 * 1024,
  jsonDepthMax: 64,
  headerBytesMax: 16_384,
  headersMax: 100,
  pathParameterCharsMax: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionCheckMs: 1_000,
  keepAliveTimeoutMs: 5_000,
  requestsPerConnectionMax: 1_000,
  connectionsMax: undefined,
  lingerMs: 1_000,
  heartbeatMs: 15_000,
  stalledReaderMs: 60_000,
  streamBufferBytesMax: 192 * 1024,
  socketMessagesWaitingMax: 16,
  socketLifetimeMs: 60 * 60 * 1000,
  drainGraceMs: 3_000,
  publicBurst: 100,
  publicPerSecond: 20,
  publicStreamsMax: 100,
};

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
