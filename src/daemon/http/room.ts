import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Handler } from '../handler.ts';
import { type HostNames, hostNames, requestGuard } from './guard.ts';
import { nothingHere } from './nothing-here.ts';
import { type HttpLimits, type HttpServerOptions, httpLimits } from './options.ts';
import { Overload } from './overload.ts';
import { type PublicStreams, publicStreams } from './public-streams.ts';
import { type AddressRateLimit, addressRateLimit } from './rate-limit.ts';
import { Responder } from './responder.ts';
import { RunningCalls } from './running-calls.ts';
import type { OpenSocket } from './sockets/open-socket.ts';

/** What every request of one server shares. */
export interface Room {
  options: HttpServerOptions;
  limits: HttpLimits;
  hosts: HostNames;
  origins: ReadonlySet<string>;
  guard: ReturnType<typeof requestGuard>;
  publicRate: AddressRateLimit;
  publicStreams: PublicStreams;
  responder: Responder;
  running: RunningCalls;
  /** What a request is told that meets no endpoint. */
  nothingHere: ReturnType<typeof nothingHere>;
  /** By path, whatever the method. */
  endpointAt: ReadonlyMap<string, Endpoint>;
  /** By path: what a WebSocket may be opened to. */
  socketAt: ReadonlyMap<string, Handler>;
  /** Sockets that are open. */
  sockets: Set<OpenSocket>;
  overload: Overload;
  /** Set once: new requests are refused from then on. */
  isDraining: boolean;
}

export function makeRoom(options: HttpServerOptions): Room {
  const limits = { ...httpLimits, ...options.limits };
  const hosts = hostNames(options.allowedHosts ?? []);
  const origins = new Set(options.allowedOrigins ?? []);
  const room: Room = {
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
      isDraining: () => room.isDraining || room.overload.load !== 'well',
    }),
    running: new RunningCalls(),
    nothingHere: nothingHere(options.handlers.map(({ endpoint }) => endpoint)),
    endpointAt: new Map(options.handlers.map(({ endpoint }) => [endpoint.path, endpoint])),
    socketAt: new Map(
      options.handlers.filter(({ endpoint }) => endpoint.socket).map((it) => [it.endpoint.path, it]),
    ),
    sockets: new Set(),
    overload: options.overload ?? new Overload(),
    isDraining: false,
  };
  return room;
}
