import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { pipeline as pipelineEnd } from 'node:stream/promises';
import { messageOf } from '../../shared/faults/message-of.ts';
import type { Log } from '../base/log.ts';
import type { Forwarding } from '../features/paywalls/index.ts';
import type { Client } from '../http/client-address.ts';
import type { WebSocketOffer } from '../http/sockets/upgrade-offers.ts';
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
  type RawHeaders,
  type UpstreamHeaderOptions,
  upstreamHeaders,
  withPageHeaders,
  withReceipt,
} from './headers.ts';
import { answerOf, type BegunAnswer, cutStalled, UpstreamTimeout } from './upstream-answer.ts';

/** Why there is no response of the upstream. */
export interface ForwardFailure {
  status: 502 | 504;
  message: string;
}

interface ForwarderDeps {
  rules: AddressRules;
  /** This proxy in `Via` headers: `1.1 gateway-…`. */
  via: string;
  log: Pick<Log, 'warn'>;
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

  /**
   * Resolves when the response ended, or to an error if it did not begin; nothing was written to the client then. Whatever
   * is thrown while a request is forwarded ends up here.
   */
  async forward(
    request: IncomingMessage,
    response: ServerResponse,
    options: ForwardOptions,
  ): Promise<ForwardFailure | undefined> {
    try {
      await this.#exchange(request, response, options);
      return undefined;
    } catch (error) {
      const { headersSent: hasBegun, destroyed: isClosed } = response;
      // A client that leaves during its response ends it prematurely.
      const hasClientLeft = hasBegun ? codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE' : isClosed;
      if (!hasClientLeft) this.#warn(options.target, error);
      if (error instanceof NeverSent) await this.giveBack(options.target);
      if (!hasBegun && !isClosed) return failureOf(error);
      response.destroy();
      return undefined;
    }
  }

  /** Gives back what a request used up that did not reach its upstream. */
  async giveBack(target: Forwarding): Promise<void> {
    await target
      .giveBack()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'the use of a token could not be given back'),
      );
  }

  async #exchange(
    request: IncomingMessage,
    response: ServerResponse,
    { target, client, body, offer }: ForwardOptions,
  ): Promise<void> {
    const known = body ?? (isBodyless(request) ? new Uint8Array() : undefined);
    const bodyBytes = known === undefined ? (contentLength(request) ?? 'streamed') : known.byteLength;
    const hasNone = bodyBytes === 0 && /^(GET|HEAD)$/.test(request.method ?? '');
    const connect = async (isRetry: boolean): Promise<[ClientRequest, BegunAnswer]> => {
      const asked = this.#request(request, {
        target,
        client,
        bodyBytes: hasNone ? null : bodyBytes,
        isUpgrade: offer !== undefined,
      });
      const isConnected = connectionOf(asked);
      response.once('close', () => {
        if (!response.writableFinished) asked.destroy();
      });
      try {
        if (known === undefined) request.pipe(asked);
        else asked.end(known);
        return [asked, await answerOf(asked, target.timeoutMs)];
      } catch (error) {
        // The upstream closed an idle connection while the request was sent on it.
        const wasStale = asked.reusedSocket && codeOf(error) === 'ECONNRESET';
        if (wasStale && known !== undefined && !isRetry && !response.destroyed) return await connect(true);
        throw isConnected() ? error : new NeverSent(reasonOf(error), { cause: error });
      }
    };
    const [asked, begun] = await connect(false);
    try {
      if (begun.upgraded) connectBoth(begun.upgraded, { answer: begun.answer, response, target, offer });
      else await relay(begun.answer, response, target);
    } catch (error) {
      asked.destroy();
      begun.upgraded?.socket.destroy();
      // It is no longer the response's.
      if (begun.upgraded && response.headersSent) offer?.socket.destroy();
      throw error;
    }
  }

  #warn({ url }: Forwarding, error: unknown): void {
    const details = { upstream: url.origin, reason: reasonOf(error) };
    this.#deps.log.warn(details, 'an upstream of a paywall failed');
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
    const asked = createRequest(isSecure, options);
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
  client: Client;
  /** The body, if it was read already. */
  body: Uint8Array | undefined;
  /** Set if the client asks for a WebSocket. */
  offer: SocketOffer | undefined;
}

interface SocketOffer extends Pick<WebSocketOffer, 'socket' | 'head'> {
  onOpen(upstream: Socket): void;
}

type UpgradedConnection = NonNullable<BegunAnswer['upgraded']>;

interface Connecting {
  answer: IncomingMessage;
  response: ServerResponse;
  target: Forwarding;
  offer: SocketOffer | undefined;
}

/** Passes a response on until it ends, or its client stops reading. */
async function relay(answer: IncomingMessage, response: ServerResponse, target: Forwarding): Promise<void> {
  const location = locationFor(answer.headers.location, target);
  const { statusCode: status = 0 } = answer;
  if (status < 200) throw new InvalidAnswer(`its status is ${status}`);
  const received = withPageHeaders(withLocation(clientHeaders(answer), location), target.pageHeaders);
  const headers = withReceipt(received, { status, receipt: target.receipt });
  begin(response, answer, headers);
  response.setTimeout(target.timeoutMs, () => {
    if ((response.socket?.writableLength ?? 0) > 0) response.destroy();
  });
  await pipelineEnd(answer, response);
}

/** Connects both sides of a WebSocket until one of them closes, or stops reading. */
function connectBoth(
  { socket: upstream, head: upstreamHead }: UpgradedConnection,
  { answer, response, target, offer }: Connecting,
): void {
  if (offer === undefined || answer.headers.upgrade?.toLowerCase() !== 'websocket') {
    throw new InvalidAnswer('it switched to another protocol');
  }
  const { socket: client, head, onOpen } = offer;
  onOpen(upstream);
  begin(response, answer, [...clientHeaders(answer), 'connection', 'Upgrade', 'upgrade', 'websocket']);
  response.detachSocket(client);
  if (upstreamHead.length > 0) client.write(upstreamHead);
  if (head.length > 0) upstream.write(head);
  for (const socket of [client, upstream]) cutStalled(socket, target.timeoutMs);
  pipeline(client, upstream, () => upstream.destroy());
  pipeline(upstream, client, () => client.destroy());
}

/** Writes the head of a response immediately, as streams start before their first byte. */
function begin(
  response: ServerResponse,
  { statusCode = 0, statusMessage }: IncomingMessage,
  headers: RawHeaders,
): void {
  try {
    response.writeHead(statusCode, statusMessage, headers);
  } catch (error) {
    throw new InvalidAnswer(`its head cannot be passed on: ${reasonOf(error)}`);
  }
  response.flushHeaders();
}

/** The upstream responded with what is not HTTP, or was not asked for. */
class InvalidAnswer extends Error {}

/** The request was refused here, or had no connection: the upstream cannot have seen it, so that its payment is still valid. */
class NeverSent extends Error {}

/** Returns whether the request has had a connection over which it can have been sent: with TLS, a trusted one. */
function connectionOf(asked: ClientRequest): () => boolean {
  let isOpen = false;
  const opened = () => {
    isOpen = true;
  };
  asked.once('socket', (socket) => {
    if (asked.reusedSocket) opened();
    else if ('encrypted' in socket) socket.once('secureConnect', opened);
    else if (socket.connecting) socket.once('connect', opened);
    else opened();
  });
  return () => isOpen;
}

/** Creates a request, which fails for what cannot be sent, such as an invalid header. */
function createRequest(isSecure: boolean, options: RequestOptions): ClientRequest {
  try {
    return isSecure ? httpsRequest(options) : httpRequest(options);
  } catch (error) {
    throw new NeverSent(reasonOf(error));
  }
}

/** What the client is shown: without the upstream's address. */
function failureOf(error: unknown): ForwardFailure {
  const isInvalid = error instanceof InvalidAnswer || codeOf(error).startsWith('HPE_');
  const what =
    error instanceof NeverSent
      ? 'cannot be reached; the payment is still valid'
      : error instanceof UpstreamTimeout
        ? 'did not respond in time'
        : isInvalid
          ? 'sent an invalid response'
          : 'broke off before it responded';
  const status = error instanceof UpstreamTimeout ? 504 : 502;
  return { status, message: `The server behind this paywall ${what}.` };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function reasonOf(error: unknown): string {
  return messageOf(error) || codeOf(error);
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
