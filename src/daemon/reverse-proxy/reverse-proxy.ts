import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Log } from '../base/log.ts';
import type { Forwarding } from '../features/paywalls/index.ts';
import { type Client, clientOf, type IsTrustedProxy } from '../http/client-address.ts';
import {
  closeQueuedResponses,
  closeTimedOutConnections,
  outliveConnections,
  responseOn,
} from '../http/connection-errors.ts';
import { discardBody } from '../http/discard-body.ts';
import { OpenConnections } from '../http/open-connections.ts';
import { httpLimits } from '../http/protection/limits.ts';
import { acceptWebSockets, type WebSocketOffer } from '../http/sockets/upgrade-offers.ts';
import type { AddressRules } from './address-guard.ts';
import { BodyReader } from './body-reader.ts';
import { Forwarder } from './forward.ts';
import { headerText } from './headers.ts';

/** A response of the proxy itself. */
export interface OwnAnswer {
  status: number;
  headers: [name: string, value: string][];
  body: string;
}

export interface ReverseProxyDeps {
  /** Decides about a request by its headers. Never rejects. */
  decide(request: {
    requestId: string;
    method: string;
    target: string;
    host: string;
    headers: IncomingHttpHeaders;
    address: string;
    readBody: () => Promise<Uint8Array | undefined>;
  }): Promise<({ kind: 'answer' } & OwnAnswer) | Forwarding>;
  /** Renders a failure of the upstream. */
  renderFailure(failure: { status: number; message: string }, requestId: string): OwnAnswer;
  rules: AddressRules;
  isTrustedProxy: IsTrustedProxy;
  makeRequestId(): string;
  /** Tells this proxy from others in `Via` headers. */
  instance: string;
  log: Pick<Log, 'warn'>;
}

const connectionsMax = 4096;

/** The reverse proxy in front of the servers that paywalls protect. */
export class ReverseProxy {
  readonly #deps: ReverseProxyDeps;
  readonly #forwarder: Forwarder;
  readonly #via: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #listening: Promise<void> | undefined;

  constructor(deps: ReverseProxyDeps) {
    this.#deps = deps;
    this.#via = `1.1 gateway-${deps.instance}`;
    this.#forwarder = new Forwarder({ rules: deps.rules, via: this.#via, log: deps.log });
  }

  /** The address it listens on; undefined while it does not. */
  get address(): AddressInfo | undefined {
    const address = this.#server?.listening ? this.#server.address() : null;
    return typeof address === 'object' && address !== null ? address : undefined;
  }

  /** Where this machine reaches it; undefined while it does not listen. */
  get url(): URL | undefined {
    const { address } = this;
    if (address === undefined) return undefined;
    const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[address.address] ?? address.address;
    const host = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
    return new URL(`http://${host}:${address.port}`);
  }

  /** Listens, unless it does already. Fails if the port is taken. */
  async listen(where: { host: string; port: number }): Promise<void> {
    if (this.#server?.listening) return;
    this.#listening ??= this.#open(where).finally(() => {
      this.#listening = undefined;
    });
    await this.#listening;
  }

  async #open(where: { host: string; port: number }): Promise<void> {
    const server = createServer({
      keepAliveTimeout: httpLimits.keepAliveTimeoutMs,
      maxHeaderSize: 32 * 1024,
    });
    server.maxHeadersCount = 0;
    server.maxConnections = connectionsMax;
    outliveConnections(server);
    closeTimedOutConnections(server);
    new OpenConnections(server);
    closeQueuedResponses(server);
    const serve = (request: IncomingMessage, response: ServerResponse): void =>
      this.#serve(request, response);
    server.on('request', serve);
    server.on('checkContinue', serve);
    server.on('checkExpectation', serve);
    acceptWebSockets(server, (offer) => {
      this.#track(offer.socket);
      this.#serve(offer.request, offer.response, offer);
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      if (responseOn(socket)) return socket.destroy();
      socket.write('HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\n\r\n');
      socket.destroySoon();
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen(where, resolve);
    await promise;
    server.removeListener('error', reject);
    server.on('error', (error) => this.#deps.log.warn({ err: error }, 'the reverse proxy failed'));
    this.#server = server;
  }

  /** Accepts nothing new; running requests may finish until the deadline. */
  async drain(deadlineMs: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const timer = setTimeout(() => {
      server.closeAllConnections();
      for (const socket of this.#sockets) socket.destroy();
    }, deadlineMs);
    await closed.finally(() => clearTimeout(timer));
    this.#forwarder.close();
    this.#server = undefined;
  }

  /** Serves a request. Nothing that it leads to reaches other requests: what was not expected is a 502 and in the log. */
  #serve(request: IncomingMessage, response: ServerResponse, offer?: WebSocketOffer): void {
    const requestId = this.#deps.makeRequestId();
    this.#respond(request, response, { requestId, offer })
      .catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'a request to a paywall failed');
        if (response.headersSent) throw error;
        const failure = { status: 502, message: 'This request could not be forwarded.' };
        sendAnswer(request, response, this.#deps.renderFailure(failure, requestId));
      })
      .catch(() => request.socket.destroy());
  }

  async #respond(
    request: IncomingMessage,
    response: ServerResponse,
    { requestId, offer }: { requestId: string; offer: WebSocketOffer | undefined },
  ): Promise<void> {
    const body = new BodyReader(request, response);
    const decision = await this.#decide(request, requestId, () => body.read());
    if (response.destroyed) {
      if (decision.kind === 'forward') await this.#forwarder.giveBack(decision);
      return;
    }
    if (decision.kind === 'answer') return sendAnswer(request, response, decision);
    body.accept();
    const failure = await this.#forwarder.forward(request, response, {
      target: decision,
      client: this.#clientOf(request),
      body: body.bytes,
      offer: offer && { ...offer, onOpen: (upstream) => this.#track(upstream) },
    });
    if (failure === undefined) return;
    const own = this.#deps.renderFailure(failure, requestId);
    sendAnswer(request, response, { ...own, headers: [...own.headers, ...(decision.pageHeaders ?? [])] });
  }

  #clientOf({ socket, headers }: IncomingMessage): Client {
    return clientOf({ address: socket.remoteAddress ?? '', headers }, this.#deps.isTrustedProxy);
  }

  /** Remembers a connection that left the HTTP server, which would close it at its end. */
  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #decide(
    request: IncomingMessage,
    requestId: string,
    readBody: () => Promise<Uint8Array | undefined>,
  ): ReturnType<ReverseProxyDeps['decide']> {
    // Requests that came through this proxy before would loop forever.
    if (headerText(request.headers.via).includes(this.#via)) {
      const failure = { status: 508, message: 'This request has passed this proxy before.' };
      return { ...this.#deps.renderFailure(failure, requestId), kind: 'answer' };
    }
    return await this.#deps.decide({
      requestId,
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      host: request.headers.host ?? '',
      headers: request.headers,
      address: this.#clientOf(request).address,
      readBody,
    });
  }
}

function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: OwnAnswer,
): void {
  const length = status === 204 ? [] : ['content-length', String(Buffer.byteLength(body))];
  // The phrase replaces the upstream's, which may be why this answer is sent.
  response.writeHead(status, STATUS_CODES[status], [...headers.flat(), ...length]);
  response.end(request.method === 'HEAD' ? undefined : body);
  discardBody(request, httpLimits);
}
