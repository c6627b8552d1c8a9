import { Agent, request as ask, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { responseOn } from './connection-errors.ts';
import type { ServerCall } from './server-call.ts';
import type { OtherThread } from './server-options.ts';

/** Names the client of a request that another thread forwards. Only connections of threads are believed. */
const clientHeader = 'x-gateway-client-address';

/**
 * Passes requests on to the server of another thread, over a Unix socket, as if their clients had sent them there. Each
 * connection of a client has at most one connection there, so that limits of a connection mean what they say.
 */
export class Forwarder {
  readonly #to: OtherThread;
  readonly #agents = new WeakMap<Socket, Agent>();

  constructor(to: OtherThread) {
    this.#to = to;
  }

  /** Takes over the requests of a server, and leaves to it those that it is to serve itself. */
  attachTo(server: Server): void {
    const own = server.listeners('request');
    server.removeAllListeners('request');
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (!this.#to.isServedHere(request)) this.#forward(request, response);
      else for (const serve of own) serve.call(server, request, response);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#tunnel(request, socket, head),
    );
  }

  /** Takes over a request that this server would refuse. Returns whether it could: not if a part of the body is gone. */
  takeRefused(call: ServerCall): boolean {
    const { request, response, requestId, rawBody } = call;
    if (this.#to.isKept(requestId) || (rawBody === undefined && request.readableDidRead)) return false;
    call.isForwarded = true;
    this.#forward(request, response, rawBody);
    return true;
  }

  /** Forwards a request and its answer. `body`: all of it, if it was read; undefined if nothing was. */
  #forward(request: IncomingMessage, response: ServerResponse, body?: Uint8Array): void {
    const { socket } = request;
    const asked = ask({
      agent: this.#agentOf(socket),
      socketPath: this.#to.socketFile,
      method: request.method,
      path: request.url,
      headers: headersFor(request),
    });
    // The other end cuts a connection where this one would have been cut.
    asked.on('error', () => socket.destroy());
    asked.on('continue', () => response.writeContinue());
    asked.on('response', (answer) => relay(request, response, answer));
    response.once('close', () => {
      if (!response.writableFinished) asked.destroy();
    });
    if (body === undefined) request.pipe(asked);
    else asked.end(body);
  }

  /** Joins a connection on which the client offers another protocol with one to the other thread. */
  #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // Writing now would end up inside a response in progress.
    if (responseOn(socket)) {
      socket.destroy();
      return;
    }
    const other = connect({ path: this.#to.socketFile, allowHalfOpen: true });
    other.setNoDelay();
    other.on('error', () => socket.destroy());
    other.once('close', () => socket.destroy());
    socket.once('close', () => other.destroy());
    other.write(Buffer.concat([headOf(request), head]));
    socket.pipe(other);
    other.pipe(socket);
  }

  #agentOf(socket: Socket): Agent {
    const known = this.#agents.get(socket);
    if (known !== undefined) return known;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.#agents.set(socket, agent);
    socket.once('close', () => agent.destroy());
    return agent;
  }
}

/** The client whose request a thread has forwarded; the header is removed. */
export function takeClientAddress({ headers, rawHeaders }: IncomingMessage): string {
  const address = headers[clientHeader];
  delete headers[clientHeader];
  for (let i = rawHeaders.length - 2; i >= 0; i -= 2) {
    if (rawHeaders[i] === clientHeader) rawHeaders.splice(i, 2);
  }
  return typeof address === 'string' ? address : '';
}

/** The headers as they were sent: name, value, name, value. */
function headersFor({ method = '', headers, rawHeaders, socket }: IncomingMessage): string[] {
  const sent = withoutClient(rawHeaders);
  sent.push(clientHeader, socket.remoteAddress ?? '');
  const hasLength = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // Node would send an empty body in chunks.
  if (!hasLength && !/^(GET|HEAD|DELETE|OPTIONS|TRACE)$/.test(method)) sent.push('content-length', '0');
  return sent;
}

function withoutClient(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.toLowerCase() !== clientHeader) kept.push(name, rawHeaders[i + 1] as string);
  }
  return kept;
}

function headOf({ method, url, httpVersion, rawHeaders, socket }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  const headers = withoutClient(rawHeaders);
  headers.push(clientHeader, socket.remoteAddress ?? '');
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Of one hop, and chosen by Node for a client that does not know HTTP/1.1. */
const ofHop = /^(connection|keep-alive|transfer-encoding)$/i;

function relay(request: IncomingMessage, response: ServerResponse, answer: IncomingMessage): void {
  const { statusCode = 502, statusMessage = '', rawHeaders } = answer;
  const isOld = request.httpVersion === '1.0';
  const headers = isOld
    ? rawHeaders.filter((_, i) => !ofHop.test(rawHeaders[i - (i % 2)] as string))
    : rawHeaders;
  response.writeHead(statusCode, statusMessage, headers as string[]);
  // A stream starts before its first event.
  if (answer.headers['content-length'] === undefined) response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.pipe(response, { end: false });
  answer.once('end', () => endAfter(request, response, answer));
}

/** A client whose connection is closed while it sends never sees the answer: the rest of a body is read first. */
function endAfter(request: IncomingMessage, response: ServerResponse, answer: IncomingMessage): void {
  if (request.complete) {
    response.end();
    return;
  }
  const end = () => response.end();
  request.once('end', end);
  answer.socket.once('close', end);
}
