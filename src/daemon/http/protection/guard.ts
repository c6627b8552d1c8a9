import type { IncomingMessage } from 'node:http';
import { health, ready } from '../../../shared/contract/daemon.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { AllowedOrigins } from '../../../shared/http/origins.ts';
import { isFromSocketFile } from '../listeners.ts';
import type { ServerCall } from '../server-call.ts';

/** The accepted values of the Host header. */
export interface HostNames {
  has(host: string): boolean;
  /** Sets the address listened on; loopback names include its port. */
  listenOn(host: string, port: number): void;
}

/**
 * `extra` names are accepted as written and, without a port, with the port listened on. So is the host of the public URL,
 * which can change at run time.
 */
export function hostNames(
  extra: readonly string[],
  publicUrl: () => string | undefined = () => undefined,
): HostNames {
  const names = new Set<string>();
  const listenOn = (host: string, port: number): void => {
    names.clear();
    const wildcard = host === '0.0.0.0' || host === '::';
    const own = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      ...(wildcard ? [] : [host.includes(':') ? `[${host}]` : host]),
    ];
    for (const name of [...own, ...extra.map((name) => name.toLowerCase())]) {
      if (!/:\d+$/.test(name)) names.add(`${name}:${port}`);
    }
    for (const name of extra) names.add(name.toLowerCase());
    // Clients omit the default port.
    if (port === 80) for (const name of own) names.add(name);
  };
  listenOn('127.0.0.1', 80);
  const isPublic = (host: string): boolean => {
    const url = publicUrl();
    return url !== undefined && new URL(url).host === host;
  };
  const has = (host: string): boolean => names.has(host) || names.has(host.toLowerCase());
  return { has: (host) => has(host) || isPublic(host.toLowerCase()), listenOn };
}

export interface GuardOptions {
  hosts: HostNames;
  origins: AllowedOrigins;
  /** The paths of pages, to which other sites may link. */
  pages: ReadonlySet<string>;
  headersMax: number;
}

const hostAdvice =
  'This Host header is not allowed. If clients reach the daemon by this name, add it to `listen.allowed_hosts` in its config.yaml.';

const originAdvice =
  'Requests from web pages and apps of this origin are not allowed. To allow them, add the origin to `cors.origins` in the config.yaml of the daemon.';

/**
 * Returns why a request must be rejected by its headers alone: web pages can attack through loopback, and DNS rebinding
 * to 127.0.0.1 shows only in Host.
 */
export function requestGuard({ hosts, origins, pages, headersMax }: GuardOptions) {
  return (request: IncomingMessage): ApiError | undefined => {
    const { headers, rawHeaders } = request;
    const host = headers.host;
    // Node silently drops duplicates of these two headers; only the raw list shows them.
    let hostCount = 0;
    let authorizationCount = 0;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] as string;
      if (name.length === 4 && name.toLowerCase() === 'host') hostCount += 1;
      else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizationCount += 1;
    }
    if (rawHeaders.length > 2 * headersMax) return new ApiError('headers_too_large');
    const isKnown = hosts.has(host ?? '') || isByItsFile(request, host ?? '') || isProbe(request);
    if (hostCount !== 1 || !host || !isKnown)
      return new ApiError('host_not_allowed', { message: hostAdvice });
    const { origin } = headers;
    if (origin !== undefined) {
      if (origins.has(origin)) return duplicate(authorizationCount);
      if (!isSameOrigin(origin, host)) return new ApiError('origin_not_allowed', { message: originAdvice });
    }
    const site = headers['sec-fetch-site'];
    const isOwn = site === undefined || site === 'none' || site === 'same-origin';
    if (!isOwn && !isLinkToPage(request, pages)) {
      return new ApiError('origin_not_allowed');
    }
    return duplicate(authorizationCount);
  };
}

/** Orchestrators ask by the address of a container, of which no one can know beforehand; the answer tells nothing. */
function isProbe({ method, url }: IncomingMessage): boolean {
  return method === 'GET' && (url === health.path || url === ready.path);
}

/** A Unix socket has no name: its clients send any local name, with or without a port. */
function isByItsFile({ socket }: IncomingMessage, host: string): boolean {
  return isFromSocketFile(socket) && /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(host);
}

/** A link that is followed in a window of its own, not in a frame: the other site sees nothing of the page. */
function isLinkToPage({ method, url, headers }: IncomingMessage, pages: ReadonlySet<string>): boolean {
  const isFollowed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return method === 'GET' && isFollowed && pages.has(url ?? '');
}

function duplicate(authorizationCount: number): ApiError | undefined {
  if (authorizationCount < 2) return undefined;
  return new ApiError('invalid_request', {
    message: 'Send one Authorization header.',
    param: 'authorization',
  });
}

// The host was accepted before, so this only allows pages that the daemon itself serves.
function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Records which origin may read the response. Only configured origins get here. */
export function noteOrigin(call: ServerCall, origins: AllowedOrigins): void {
  const { origin } = call.headers;
  if (origin !== undefined && origins.has(origin)) call.corsOrigin = origin;
}

/** Whether this is a preflight request from an allowed origin. */
export function isPreflight(call: ServerCall): boolean {
  return (
    call.corsOrigin !== undefined &&
    call.request.method === 'OPTIONS' &&
    call.headers['access-control-request-method'] !== undefined
  );
}

/** Allows what the page asks for: which headers SDKs send changes with their versions, and the daemon knows the origin. */
export function preflightHeaders({ headers }: ServerCall): Record<string, string> {
  const asked = headers['access-control-request-headers'] ?? '';
  const names = String(asked)
    .split(',')
    .map((name) => name.trim());
  return {
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)).join(', '),
    'access-control-max-age': '600',
    // Browsers ask this for pages of the public network that call a private address.
    ...(headers['access-control-request-private-network'] === 'true' && {
      'access-control-allow-private-network': 'true',
    }),
  };
}
