import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Handler } from '../handler.ts';
import { type HostNames, hostNames, requestGuard } from './protection/guard.ts';
import { type HttpLimits, httpLimits } from './protection/limits.ts';
import { Overload } from './protection/overload.ts';
import {
  type AddressRateLimit,
  addressRateLimit,
  type PublicStreams,
  publicStreams,
} from './protection/rate-limit.ts';
import { reportFailure } from './report-failure.ts';
import { Responder } from './responder.ts';
import { RunningCalls } from './running-calls.ts';
import type { HttpServerOptions } from './server-options.ts';
import { unmatchedRequest } from './unmatched-request.ts';

/** Shared by all requests of a server. */
export interface ServerContext {
  options: HttpServerOptions;
  limits: HttpLimits;
  hosts: HostNames;
  origins: ReadonlySet<string>;
  guard: ReturnType<typeof requestGuard>;
  publicRate: AddressRateLimit;
  publicStreams: PublicStreams;
  responder: Responder;
  running: RunningCalls;
  /** The error for a request that matches no endpoint. */
  unmatchedRequest: ReturnType<typeof unmatchedRequest>;
  /** By path, for any method. */
  endpointAt: ReadonlyMap<string, Endpoint>;
  /** Endpoints with a WebSocket, by path. */
  socketAt: ReadonlyMap<string, Handler>;
  /** Open sockets. */
  sockets: Set<{ drain(): void }>;
  overload: Overload;
  /** Set once; new requests are rejected from then on. */
  isDraining: boolean;
}

export function createServerContext(options: HttpServerOptions): ServerContext {
  const limits = { ...httpLimits, ...options.limits };
  const hosts = hostNames(options.allowedHosts ?? [], options.publicUrl);
  const origins = new Set(options.allowedOrigins ?? []);
  const context: ServerContext = {
    options,
    limits,
    hosts,
    origins,
    guard: requestGuard({ hosts, origins, headersMax: limits.headersMax }),
    publicRate: addressRateLimit({
      burst: limits.publicBurst,
      perSecond: limits.publicPerSecond,
      elapsed: () => performance.now(),
    }),
    publicStreams: publicStreams(limits.publicStreamsMax),
    responder: new Responder({
      limits,
      log: options.log,
      version: options.version,
      strictErrors: options.strictErrors ?? false,
      isDraining: () => context.isDraining || context.overload.load !== 'well',
      onFailure: (call, error) => reportFailure(options, call, error),
    }),
    running: new RunningCalls(),
    unmatchedRequest: unmatchedRequest(options.handlers.map(({ endpoint }) => endpoint)),
    endpointAt: new Map(options.handlers.map(({ endpoint }) => [endpoint.path, endpoint])),
    socketAt: new Map(
      options.handlers.filter(({ endpoint }) => endpoint.socket).map((it) => [it.endpoint.path, it]),
    ),
    sockets: new Set(),
    overload: options.overload ?? new Overload(),
    isDraining: false,
  };
  return context;
}
