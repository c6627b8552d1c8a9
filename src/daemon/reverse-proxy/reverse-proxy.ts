import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLoopback } from '../../shared/loopback.ts';
import type { Forwarding } from '../features/paywalls/index.ts';
import { outliveConnections } from '../http/accepted-sockets.ts';
import { discardBody } from '../http/discard-body.ts';
import { httpLimits } from '../http/protection/limits.ts';
import type { AddressRules } from './address-guard.ts';
import { BodyReader } from './body-reader.ts';
import { Forwarder } from './forward.ts';
import { headerText, type ProxyClient } from './headers.ts';

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
  makeRequestId(): string;
  /** Tells this proxy from others in `Via` headers. */
  instance: string;
  log: { warn(details: object, message: string): void };
}

const connectionsMax = 4096;

/** The reverse proxy in front of the servers that paywalls protect. */
export class ReverseProxy {
  readonly #deps: ReverseProxyDeps;
  readonly #forwarder: Forwarder;
  readonly #via: string;
  readonly #sockets = new Set<Duplex>();
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

  /** Listens, unless it does already. Fails if the port is taken. */
  async listen(where: { host: string; port: number }): Promise<void> {
    if (this.#server?.listening) return;
    this.#listening ??= this.#open(where).finally(() => {
      this.#listening = undefined;
    });
    await this.#listening;
  }

  async #open(where: { host: string; port: number }): Promise<void> {
    const server = createServer({ keepAliveTimeout: 5_000, maxHeaderSize: 32 * 1024 });
    server.maxConnections = connectionsMax;
    outliveConnections(server);
    const serve = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response);
    server.on('request', serve);
    server.on('checkContinue', serve);
    server.on('checkExpectation', serve);
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head);
    });
    server.on('connect', (_request, socket) =>
      socket.end('HTTP/1.1 405 Method Not Allowed\r\nconnection: close\r\n\r\n'),
    );
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

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = this.#deps.makeRequestId();
    const body = new BodyReader(request, response);
    const decision = await this.#decide(request, requestId, () => body.read());
    if (response.destroyed) {
      if (decision.kind === 'forward') await this.#giveBack(decision);
      return;
    }
    if (decision.kind === 'answer') return answer(request, response, decision);
    body.accept();
    const failure = await this.#forwarder.forward(request, response, {
      target: decision,
      client: clientOf(request),
      body: body.bytes,
    });
    if (failure) answer(request, response, this.#deps.renderFailure(failure, requestId));
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const requestId = this.#deps.makeRequestId();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const decision = await this.#decide(request, requestId, async () => new Uint8Array());
    if (socket.destroyed) {
      if (decision.kind === 'forward') await this.#giveBack(decision);
      return;
    }
    if (decision.kind === 'answer') return answerRaw(socket, decision);
    const failure = await this.#forwarder.upgrade(request, socket, {
      target: decision,
      client: clientOf(request),
      head,
      onOpen: (upstream) => {
        this.#sockets.add(upstream);
        upstream.once('close', () => this.#sockets.delete(upstream));
      },
    });
    if (failure && !socket.destroyed) answerRaw(socket, this.#deps.renderFailure(failure, requestId));
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
      address: clientOf(request).address,
      readBody,
    });
  }

  async #giveBack(target: Forwarding): Promise<void> {
    await target
      .giveBack()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'the use of a token could not be given back'),
      );
  }
}

function addressOf(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
}

/** The client: of the connection, or the last one that a proxy on this machine named. */
function clientOf(request: IncomingMessage): ProxyClient {
  const address = addressOf(request);
  const isLocal = address === '::1' || isLoopback(address);
  const named = headerText(request.headers['x-forwarded-for']).split(',').at(-1)?.trim();
  return isLocal && named ? { address: named, isProxied: true } : { address, isProxied: false };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: OwnAnswer,
): void {
  response.writeHead(status, [...headers.flat(), 'content-length', String(Buffer.byteLength(body))]);
  response.end(request.method === 'HEAD' ? undefined : body);
  discardBody(request, httpLimits);
}

function answerRaw(socket: Duplex, { status, headers, body }: OwnAnswer): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
