import type { LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import type { Dispatcher } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { isLoopback } from '../../shared/http/loopback.ts';
import { RecentMap } from '../../shared/recent-map.ts';
import { type IncomingAnswer, NetworkFailure, type OutgoingRequest, type World } from '../base/world.ts';
import { Exchange } from './exchange.ts';
import { networkFailure } from './network-failures.ts';

export interface NetworkSettings {
  /** For establishing a connection, including TLS. */
  connectTimeoutMs?: number;
  /** Maximum number of connections to one origin; further calls wait. Unlimited by default. */
  connectionsPerOrigin?: number;
  /** Allowed destinations, as `https://host[:port]`. All by default. */
  allowsOrigin?: (origin: string) => boolean;
  /** A certificate to trust besides those of known authorities, in PEM. */
  certificate?: string | undefined;
  /** Resolves the names of calls that are `publicOnly`; fails for addresses that they may not reach. */
  publicLookup?: LookupFunction;
  /** Creates the dispatcher for calls to other machines, if they need a proxy. */
  proxied?: ((options: ReturnType<typeof agentOptions>) => Dispatcher) | undefined;
  /** Which of them are called directly all the same. */
  bypasses?: ((destination: { hostname: string; port: string }) => boolean) | undefined;
}

export interface Network {
  send: World['send'];
  /** Ends all calls and closes all connections. */
  close(): Promise<void>;
}

interface Target {
  origin: string;
  host: string;
  path: string;
  dispatcher: Dispatcher;
}

// Node and Python servers silently close idle connections after five seconds; behind TLS there usually is a load balancer
// that waits longer, and a new handshake is expensive.
const keepAliveMs = { plain: 4_000, tls: 30_000 };
const knownTargetsMax = 512;

/**
 * The only way for the daemon to call other hosts: keep-alive connections to each origin, no decompression, no redirects. A
 * GET whose connection breaks before the answer is sent once more.
 * Calls reject with a NetworkFailure that contains neither headers nor bodies.
 */
export function createNetwork(settings: NetworkSettings = {}): Network {
  const {
    connectTimeoutMs = 5_000,
    connectionsPerOrigin,
    certificate,
    allowsOrigin,
    proxied,
    bypasses,
  } = settings;
  const options = agentOptions({ connectTimeoutMs, connectionsPerOrigin, certificate });
  const direct = new Agent(options);
  const { publicLookup } = settings;
  const directPublic =
    publicLookup && new Agent({ ...options, connect: { ...options.connect, lookup: publicLookup } });
  const throughProxy = proxied?.(options);
  const targets = new RecentMap<string, Target>(knownTargetsMax);

  const targetOf = (url: string): Target => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const { origin, host, hostname, port, path } = parseUrl(url);
    const isDirect = throughProxy === undefined || isLoopback(hostname) || bypasses?.({ hostname, port });
    const dispatcher = isDirect ? direct : throughProxy;
    const target = { origin, host, path, dispatcher };
    targets.set(url, target);
    return target;
  };

  const dispatch = (request: OutgoingRequest): Promise<IncomingAnswer> => {
    const target = targetOf(request.url);
    if (allowsOrigin !== undefined && !allowsOrigin(target.origin)) {
      throw networkFailure('refused', target.host, 'the configuration names no such host');
    }
    if (request.signal?.aborted) throw networkFailure('aborted', target.host);
    const exchange = new Exchange(request, target.host);
    // A proxy resolves names itself.
    const isGuarded = request.publicOnly && target.dispatcher === direct;
    const dispatcher = isGuarded && directPublic ? directPublic : target.dispatcher;
    dispatcher.dispatch(
      {
        origin: target.origin,
        path: target.path,
        method: request.method,
        headers: { ...request.headers, ...request.addedHeaders, 'accept-encoding': 'identity' },
        body: request.body ?? null,
        // The exchange has its own timers: undici's start again with each interim response, and with each byte.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      exchange,
    );
    return exchange.answer;
  };

  /** The other side may close a kept connection just when it is used again; reading twice changes nothing. */
  const dispatchTwice = (request: OutgoingRequest): Promise<IncomingAnswer> =>
    dispatch(request).catch((error: unknown) => {
      if (error instanceof NetworkFailure && error.kind === 'reset') return dispatch(request);
      throw error;
    });

  // Not an async function, which would add three microtasks before each answer.
  const send = (request: OutgoingRequest): Promise<IncomingAnswer> => {
    try {
      return request.method === 'GET' ? dispatchTwice(request) : dispatch(request);
    } catch (error) {
      return Promise.reject(error);
    }
  };

  const close = async () => {
    await Promise.all([direct.destroy(), directPublic?.destroy(), throughProxy?.destroy()]);
  };

  return { send, close };
}

function agentOptions({
  connectTimeoutMs,
  connectionsPerOrigin,
  certificate,
}: {
  connectTimeoutMs: number;
  connectionsPerOrigin: number | undefined;
  certificate: string | undefined;
}) {
  return {
    connections: connectionsPerOrigin ?? null,
    pipelining: 1,
    connect: {
      timeout: connectTimeoutMs,
      // Made once: each would hold about a megabyte of certificates, and take some milliseconds to parse them.
      ...(certificate !== undefined && {
        secureContext: createSecureContext({ ca: [...rootCertificates, certificate] }),
      }),
    },
    /** For the connection to a proxy. */
    connectTimeout: connectTimeoutMs,
    factory: (origin: string | URL, options: object) =>
      new Pool(origin, {
        ...options,
        allowH2: false,
        keepAliveTimeout: String(origin).startsWith('https:') ? keepAliveMs.tls : keepAliveMs.plain,
      }),
  };
}

function parseUrl(url: string) {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password) {
    throw networkFailure('refused', parsed?.host ?? 'unknown host', 'not an http(s) URL without credentials');
  }
  const { origin, host, hostname, pathname, protocol, search } = parsed;
  const port = parsed.port || (protocol === 'https:' ? '443' : '80');
  return { origin, host, hostname, port, path: pathname + search };
}
