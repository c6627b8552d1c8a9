import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream';
import type { Forwarding } from '../features/paywalls/index.ts';
import { outlive } from '../http/accepted-sockets.ts';
import {
  AddressRefused,
  type AddressRules,
  addressProblem,
  guardedLookup,
  plainHost,
  portOf,
} from './address-guard.ts';
import { contentLength, isBodyless } from './body-reader.ts';
import {
  clientHeaders,
  headerText,
  type ProxyClient,
  type RawHeaders,
  type UpstreamHeaderOptions,
  upstreamHeaders,
  withReceipt,
} from './headers.ts';

/** Why there is no response of the upstream. */
export interface ForwardFailure {
  status: 502 | 504;
  message: string;
}

interface ForwarderDeps {
  rules: AddressRules;
  /** This proxy in `Via` headers: `1.1 gateway-…`. */
  via: string;
  log: { warn(details: object, message: string): void };
}

const agentOptions = { keepAlive: true, timeout: 4_000, maxFreeSockets: 64 } as const;

const createAgents = () => ({ http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) });

/** Sends requests upstream and their responses back, byte by byte, at the pace of the slower side. */
export class Forwarder {
  readonly #deps: ForwarderDeps;
  /** Paywalls that may not use private addresses share no connections with those that may. */
  readonly #agents = { private: createAgents(), public: createAgents() };

  constructor(deps: ForwarderDeps) {
    this.#deps = deps;
  }

  /** Resolves to an error if the upstream did not start to respond; nothing was written to the client then. */
  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    { target, client, body }: ForwardOptions,
  ): Promise<ForwardFailure | undefined> {
    const { promise, resolve } = Promise.withResolvers<ForwardFailure | undefined>();
    const known = body ?? (isBodyless(request) ? new Uint8Array() : undefined);
    const bodyBytes = known === undefined ? (contentLength(request) ?? 'streamed') : known.byteLength;
    const hasNone = bodyBytes === 0 && /^(GET|HEAD)$/.test(request.method ?? '');
    const connect = (isRetry: boolean): void => {
      const asked = this.#request(request, {
        target,
        client,
        bodyBytes: hasNone ? null : bodyBytes,
        isUpgrade: false,
      });
      const failWith = failure(target, this.#deps.log, resolve);
      asked.once('response', (answer) => {
        asked.setTimeout(0);
        const location = locationFor(answer.headers.location, target);
        response.writeHead(
          answer.statusCode ?? 502,
          answer.statusMessage,
          withReceipt(withLocation(clientHeaders(answer), location), {
            status: answer.statusCode,
            receipt: target.receipt,
          }),
        );
        // Streams start before their first byte.
        response.flushHeaders();
        pipeline(answer, response, () => resolve(undefined));
      });
      asked.once('timeout', () => asked.destroy(new UpstreamTimeout()));
      asked.on('error', (error) => {
        if (response.headersSent || response.destroyed) {
          response.destroy();
          resolve(undefined);
          return;
        }
        // The upstream closed an idle connection while the request was sent on it.
        const wasStale = asked.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
        if (wasStale && known !== undefined && !isRetry) return connect(true);
        failWith(error);
      });
      response.once('close', () => {
        if (!response.writableFinished) asked.destroy();
      });
      if (known !== undefined) asked.end(known);
      else request.pipe(asked);
    };
    connect(false);
    return await promise;
  }

  /**
   * Forwards an upgrade to a WebSocket and connects both sides until one of them closes. Other upgrades, such as to
   * HTTP/2, would let requests pass that no one paid for: they are forwarded as ordinary requests.
   */
  async upgrade(
    request: IncomingMessage,
    socket: Duplex,
    { target, client, head, onOpen }: UpgradeOptions,
  ): Promise<ForwardFailure | undefined> {
    const { promise, resolve } = Promise.withResolvers<ForwardFailure | undefined>();
    const asked = this.#request(request, {
      target,
      client,
      bodyBytes: null,
      isUpgrade: isWebSocket(request),
    });
    asked.once('upgrade', (answer, upstream, upstreamHead) => {
      outlive(upstream);
      asked.setTimeout(0);
      upstream.setTimeout(0);
      if (socket.destroyed) {
        upstream.destroy();
        resolve(undefined);
        return;
      }
      const headers = ['connection', 'Upgrade', 'upgrade', answer.headers.upgrade ?? 'websocket'];
      socket.write(head101(answer, [...clientHeaders(answer), ...headers]));
      if (upstreamHead.length > 0) socket.write(upstreamHead);
      if (head.length > 0) upstream.write(head);
      onOpen(upstream);
      pipeline(socket, upstream, () => upstream.destroy());
      pipeline(upstream, socket, () => socket.destroy());
      resolve(undefined);
    });
    asked.once('response', (answer) => {
      // Not upgraded: the response is passed on, and the connection ends with it.
      if (socket.destroyed) {
        answer.destroy();
        resolve(undefined);
        return;
      }
      socket.write(head101(answer, [...clientHeaders(answer), 'connection', 'close']));
      pipeline(answer, socket, () => resolve(undefined));
    });
    asked.once('timeout', () => asked.destroy(new UpstreamTimeout()));
    asked.on('error', failure(target, this.#deps.log, resolve));
    socket.once('close', () => asked.destroy());
    asked.end();
    return await promise;
  }

  close(): void {
    for (const { http, https } of Object.values(this.#agents)) {
      http.destroy();
      https.destroy();
    }
  }

  #request(
    request: IncomingMessage,
    { target, client, bodyBytes, isUpgrade }: RequestOfClient,
  ): ClientRequest {
    const { url, headers: added, timeoutMs, mayBePrivate } = target;
    const { rules, via } = this.#deps;
    const [host, port] = [plainHost(url), portOf(url)];
    const isSecure = url.protocol === 'https:';
    const headers = upstreamHeaders(request, { added, host: url.host, via, client, bodyBytes, isUpgrade });
    const options: RequestOptions = {
      host,
      port,
      method: request.method,
      path: url.pathname + url.search,
      // In this form repeated headers stay apart.
      headers: headers as unknown as RequestOptions['headers'],
      setHost: false,
      timeout: timeoutMs,
      lookup: guardedLookup({ port, mayBePrivate, rules }),
      agent: isUpgrade
        ? false
        : this.#agents[mayBePrivate ? 'private' : 'public'][isSecure ? 'https' : 'http'],
    };
    const asked = isSecure ? httpsRequest(options) : httpRequest(options);
    // Addresses are not looked up, so they are checked here, and again for each request.
    const problem = isIP(host) ? addressProblem(host, { port, mayBePrivate, rules }) : undefined;
    if (problem !== undefined) asked.destroy(new AddressRefused(problem));
    return asked;
  }
}

interface RequestOfClient extends Pick<UpstreamHeaderOptions, 'client' | 'bodyBytes' | 'isUpgrade'> {
  target: Forwarding;
}

interface ForwardOptions {
  target: Forwarding;
  client: ProxyClient;
  /** The body, if it was read already. */
  body: Uint8Array | undefined;
}

interface UpgradeOptions {
  target: Forwarding;
  client: ProxyClient;
  /** The bytes that the client sent after its request. */
  head: Buffer;
  onOpen(upstream: Duplex): void;
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return /(^|,)\s*websocket\s*(,|$)/i.test(headerText(headers.upgrade));
}

class UpstreamTimeout extends Error {}

/** Errors before a connection is open: the upstream cannot have seen the request. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Explains a failed request to the client, without the upstream's address, and to the log. */
function failure(
  target: Forwarding,
  log: ForwarderDeps['log'],
  resolve: (failure: ForwardFailure) => void,
): (error: Error & { code?: string }) => void {
  return (error) => {
    const isRefused = error instanceof AddressRefused;
    const hasNotArrived = isRefused || neverConnected.has(error.code ?? '');
    log.warn(
      { upstream: target.url.origin, reason: error.message || error.code },
      'an upstream of a paywall failed',
    );
    const isLate = error instanceof UpstreamTimeout;
    const what = isLate
      ? 'did not respond in time'
      : hasNotArrived
        ? 'cannot be reached; the payment is still valid'
        : 'broke off before it responded';
    const answer: ForwardFailure = {
      status: isLate ? 504 : 502,
      message: `The server behind this paywall ${what}.`,
    };
    if (!hasNotArrived) return resolve(answer);
    target.giveBack().then(
      () => resolve(answer),
      (reason: unknown) => {
        log.warn({ err: reason }, 'the use of a token could not be given back');
        resolve(answer);
      },
    );
  };
}

/** A redirect within the upstream, as clients reach it; others are left as they are. Redirects are never followed. */
function locationFor(location: string | undefined, { url, clientPath }: Forwarding): string | undefined {
  if (location === undefined || !URL.canParse(location, url.href)) return undefined;
  const named = new URL(location, url);
  const isRelativePath = !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(location) && !location.startsWith('/');
  if (named.origin !== url.origin || isRelativePath) return undefined;
  return clientPath(named.pathname) + named.search + named.hash;
}

function withLocation(headers: RawHeaders, location: string | undefined): RawHeaders {
  if (location === undefined) return headers;
  return headers.map((text, at) =>
    headers[at - 1]?.toLowerCase() === 'location' && at % 2 === 1 ? location : text,
  );
}

function head101({ statusCode = 502, statusMessage }: IncomingMessage, headers: RawHeaders): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage || STATUS_CODES[statusCode]}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
