import { Semaphore } from '../../shared/async/semaphore.ts';
import { TransientList } from '../../shared/async/transient.ts';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { type AllowedOrigins, allowedOrigins } from '../../shared/http/origins.ts';
import type { Handler } from '../base/handler.ts';
import { type IsTrustedProxy, trustedProxies } from './client-address.ts';
import { describeFailure } from './error-reply.ts';
import type { Cuttable } from './event-stream.ts';
import { Forwarder } from './forwarder.ts';
import { type HostNames, hostNames, requestGuard } from './protection/guard.ts';
import { LargeBodies } from './protection/large-bodies.ts';
import { type HttpLimits, httpLimits } from './protection/limits.ts';
import { Overload } from './protection/overload.ts';
import {
  type AddressRateLimit,
  createRateLimit,
  type PublicStreams,
  publicStreams,
} from './protection/rate-limit.ts';
import { reportFailure } from './report-failure.ts';
import { Responder } from './responder.ts';
import type { ServerCall } from './server-call.ts';
import type { HttpServerOptions } from './server-options.ts';
import { unmatchedRequest } from './unmatched-request.ts';

/** Shared by all requests of a server. */
export interface ServerContext {
  options: HttpServerOptions;
  limits: HttpLimits;
  hosts: HostNames;
  origins: AllowedOrigins;
  guard: ReturnType<typeof requestGuard>;
  /** Undefined without trusted proxies. */
  isTrustedProxy: IsTrustedProxy | undefined;
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
  sockets: Set<{ drain(): void }>;
  overload: Overload;
  /** Streams and sockets that wait for their reader: cut when memory is short. */
  stalled: Set<Cuttable>;
  /** For large compressed bodies, which are read a few at a time. */
  decompressions: Semaphore;
  largeBodies: LargeBodies;
  /** Passes on what another thread serves; undefined if there is none. */
  forwarder: Forwarder | undefined;
  /** Whether other threads forward the requests that come by TCP. */
  isBehindThreads: boolean;
  /** Set once; new requests are rejected from then on, and connections closed with their answers. */
  isDraining: boolean;
  /** Whether requests of trusted proxies are served all the same, as they were sent before the proxies could know. */
  isLeaving: boolean;
}

export function createServerContext(given: HttpServerOptions): ServerContext {
  const options = withSafeReports(given);
  const limits = { ...httpLimits, ...options.limits };
  const hosts = hostNames(options.allowedHosts ?? [], options.publicUrl);
  const origins = allowedOrigins(options.allowedOrigins ?? []);
  const stalled = options.stalled ?? new Set<Cuttable>();
  const proxies = options.trustedProxies ?? [];
  const { otherThread } = options;
  const forwarder = otherThread && new Forwarder(otherThread);
  const context: ServerContext = {
    stalled,
    options,
    limits,
    hosts,
    origins,
    isTrustedProxy: proxies.length === 0 ? undefined : trustedProxies(proxies),
    guard: requestGuard({ hosts, origins, pages: pagesOf(options.handlers), headersMax: limits.headersMax }),
    publicRate: createRateLimit({
      burst: limits.publicBurst,
      perSecond: limits.publicPerSecond,
      elapsed: () => performance.now(),
      ...(options.daemonCount && { sharedBy: options.daemonCount }),
    }),
    publicStreams: publicStreams(limits.publicStreamsMax),
    responder: new Responder({
      limits,
      log: options.log,
      version: options.version,
      strictErrors: options.strictErrors ?? false,
      stalled,
      isDraining: () => context.isDraining || context.overload.load !== 'well',
      onFailure: (call, error) => reportFailure(options, call, error),
      forward: forwarder && ((call) => forwarder.takeRefused(call)),
    }),
    running: new RunningCalls(),
    unmatchedRequest: unmatchedRequest(options.handlers.map(({ endpoint }) => endpoint)),
    endpointAt: new Map(options.handlers.map(({ endpoint }) => [endpoint.path, endpoint])),
    socketAt: new Map(
      options.handlers.filter(({ endpoint }) => endpoint.socket).map((it) => [it.endpoint.path, it]),
    ),
    sockets: new Set(),
    overload: options.overload ?? new Overload(),
    decompressions: new Semaphore(() => limits.largeBodiesMax),
    largeBodies: new LargeBodies(options.shedsLoad === false ? undefined : limits),
    forwarder,
    isBehindThreads: false,
    isDraining: false,
    isLeaving: false,
  };
  return context;
}

/** A request whose report fails goes on as if it had not. */
function withSafeReports(options: HttpServerOptions): HttpServerOptions {
  const safe = <A extends unknown[]>(report: ((...args: A) => void) | undefined) => {
    if (report === undefined) return undefined;
    return (...args: A): void => {
      try {
        report(...args);
      } catch (error) {
        options.log.error({ failure: describeFailure(error) }, 'a request could not be reported');
      }
    };
  };
  const { onFinish, onFailure, onParent } = options;
  const reports = { onFinish: safe(onFinish), onFailure: safe(onFailure), onParent: safe(onParent) };
  return { ...options, ...reports };
}

function pagesOf(handlers: readonly Handler[]): Set<string> {
  const pages = handlers.filter(({ endpoint }) =>
    [endpoint.contentType ?? []].flat().some((type) => type.startsWith('text/html')),
  );
  return new Set(pages.map(({ endpoint }) => endpoint.path));
}

/** The calls that a drain waits for. */
class RunningCalls {
  readonly #calls = new TransientList<ServerCall>();
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#calls.size;
  }

  add(call: ServerCall): void {
    this.#calls.add(call);
  }

  /** Removes a call once its response is written and its handler has finished. */
  release(call: ServerCall): void {
    if (!call.isAnswered || call.isWorking) return;
    this.#calls.delete(call);
    if (this.#calls.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Aborts every call with the reason `draining`. */
  endAll(): void {
    for (const call of [...this.#calls]) call.end('draining');
  }

  cutAll(): void {
    for (const call of [...this.#calls]) call.cut();
  }

  /** Resolves to whether all calls ended within that time. */
  async emptyWithin(ms: number): Promise<boolean> {
    if (this.#calls.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    this.#waiting.push(() => resolve(true));
    const isEmpty = await promise;
    clearTimeout(timer);
    return isEmpty;
  }
}
