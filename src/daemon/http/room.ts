import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { type HostNames, hostNames, requestGuard } from './guard.ts';
import { type HttpLimits, type HttpServerOptions, httpLimits } from './options.ts';
import { type AddressRateLimit, addressRateLimit } from './rate-limit.ts';
import { Responder } from './responder.ts';
import { RunningCalls } from './running-calls.ts';

/** What every request of one server shares. */
export interface Room {
  options: HttpServerOptions;
  limits: HttpLimits;
  hosts: HostNames;
  origins: ReadonlySet<string>;
  guard: ReturnType<typeof requestGuard>;
  publicRate: AddressRateLimit;
  responder: Responder;
  running: RunningCalls;
  /** By path, whatever the method. */
  endpointAt: ReadonlyMap<string, Endpoint>;
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
    responder: new Responder({
      limits,
      log: options.log,
      version: options.version,
      strictErrors: options.strictErrors ?? false,
      isDraining: () => room.isDraining,
    }),
    running: new RunningCalls(),
    endpointAt: new Map(options.handlers.map(({ endpoint }) => [endpoint.path, endpoint])),
    isDraining: false,
  };
  return room;
}
