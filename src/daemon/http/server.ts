import { rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { loopTurns } from '../../shared/async/loop-turns.ts';
import { ApiError } from '../../shared/errors.ts';
import { gatewayKeyHeader, keyedPrefix, keyInPath } from '../../shared/http/gateway-key.ts';
import {
  closeQueuedResponses,
  closeTimedOutConnections,
  outliveConnections,
  rawAnswers,
} from './connection-errors.ts';
import { countedBody } from './counted-body.ts';
import { addEndpoints, credentialIn, routeUrl } from './endpoint-route.ts';
import { cutStalled } from './event-stream.ts';
import { bodyTooLarge, decompress, parseJson } from './json-body.ts';
import { createListeners, serverUrl } from './listeners.ts';
import { OpenConnections } from './open-connections.ts';
import { connectionsMaxFor, openFilesMax } from './protection/limits.ts';
import { watchLoad } from './protection/overload.ts';
import { ProxyConnections } from './proxy-connections.ts';
import { acceptRequest, servedPath, startRequest } from './request-lifecycle.ts';
import type { ServerCall } from './server-call.ts';
import { createServerContext, type ServerContext } from './server-context.ts';
import type { HttpServerOptions } from './server-options.ts';
import { checkSocketPath, type SocketAccess } from './socket-file.ts';
import { serveUpgrades } from './sockets/upgrades.ts';
import { hiddenMethods } from './unmatched-request.ts';

export interface ListenAddress {
  host: string;
  /** 0 for any that is free. */
  port: number;
  /** A Unix socket to listen on as well. */
  socketFile?: { path: string; access: SocketAccess } | undefined;
  /** Whether other threads listen on the same port. */
  reusePort?: boolean;
  /** The Unix socket to listen on in place of the port, where other threads listen, which forward requests. */
  behindThreads?: string | undefined;
}

export interface HttpServer {
  /** Resolves to the address; fails with the system's error code (`EADDRINUSE`, `EACCES`) or with SocketUnusable. */
  listen(address: ListenAddress): Promise<{ host: string; port: number; url: string }>;
  /** Requests and streams in progress. */
  running(): { requests: number; streams: number };
  /** Sends one request without a port, for tests. */
  inject: FastifyInstance['inject'];
  /**
   * Lets trusted proxies send calls to other daemons: `/readyz` fails, then the listeners are closed. What they send is still
   * answered. Resolves when they have closed their connections, or at the deadline. Other requests are refused, and without
   * trusted proxies nothing is waited for.
   */
  leave(deadlineMs: number): Promise<void>;
  /**
   * Refuses new requests and waits for running ones. At the deadline their signals are aborted with `draining`, so that
   * they can write a last event; connections still open after that are closed. A second call can shorten the deadline.
   */
  drain(deadlineMs: number): Promise<void>;
  /** Closes all connections, immediately unless drained before. */
  close(): Promise<void>;
}

/** Idle connections are closed first; the others get this long. */
const closeGraceMs = 250;

/** Serves the endpoints of the handlers over HTTP/1.1. */
export async function createServer(options: HttpServerOptions): Promise<HttpServer> {
  const context = createServerContext(options);
  const app = makeFastify(context);
  addEndpoints(app, options.handlers, context);
  for (const { path, methods } of hiddenMethods(options.handlers.map(({ endpoint }) => endpoint)))
    app.route({
      method: methods,
      url: routeUrl(path),
      onRequest: (request) => refuseUnmatched(context, request.call),
      handler: () => {},
    });
  await app.ready();
  const connectionsMax = app.server.maxConnections;
  const listeners = createListeners(app.server);
  const connections = new OpenConnections(app.server);

  const { isTrustedProxy } = context;
  const proxies = isTrustedProxy && new ProxyConnections(app.server, isTrustedProxy);

  const refuseNew = (): void => {
    context.isDraining = true;
    for (const socket of context.sockets) socket.drain();
  };
  let ended: Promise<unknown> | undefined;
  const stopListening = (): void => {
    void listeners.close();
    // Other threads forward the requests that proxies have sent.
    if (context.isBehindThreads || !app.server.listening) return;
    // The method of HTTP servers closes idle connections, too, on which a request may be on its way.
    ended = new Promise((resolve) => NetServer.prototype.close.call(app.server, resolve));
  };
  const leave = async (deadlineMs: number): Promise<void> => {
    refuseNew();
    if (proxies === undefined) return;
    context.isLeaving = true;
    connections.closeIdleAfter(context.limits.leavingIdleMs);
    const noticeMs = Math.min(context.limits.proxyNoticeMs, deadlineMs);
    await wait(noticeMs);
    await proxies.quiet();
    stopListening();
    await proxies.closedWithin(deadlineMs - noticeMs);
  };
  let isDrained = false;
  const drain = async (deadlineMs: number): Promise<void> => {
    refuseNew();
    context.isLeaving = false;
    await drainRequests(context, deadlineMs);
    isDrained = true;
  };
  let stopWatching = (): void => {};
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    stopWatching();
    if (!isDrained) await drain(0);
    const timer = setTimeout(() => app.server.closeAllConnections(), closeGraceMs);
    await Promise.all([app.close(), listeners.close(), ended]);
    clearTimeout(timer);
  };
  return {
    async listen({ host, port, socketFile, reusePort = false, behindThreads }) {
      if (behindThreads !== undefined) {
        context.isBehindThreads = true;
        checkSocketPath(behindThreads);
        // What a killed process left.
        rmSync(behindThreads, { force: true });
        await app.listen({ path: behindThreads });
      } else {
        // For `localhost` Fastify would open a second server that has none of our limits.
        const address = { host: host === 'localhost' ? '127.0.0.1' : host, port, reusePort };
        await app.listen(address);
      }
      if (options.shedsLoad ?? true)
        stopWatching = watchLoad({
          overload: context.overload,
          log: options.log,
          isDiskFull: options.isDiskFull ?? (() => false),
          connections: () => ({ open: context.running.count, max: connectionsMax }),
          onShortOfMemory: () => cutStalled({ stalled: context.stalled, log: options.log }),
        });
      const bound = app.server.address();
      if (bound === null) throw new Error('not listening');
      const boundPort = typeof bound === 'string' ? port : bound.port;
      context.hosts.listenOn(host, boundPort);
      if (host === 'localhost' && behindThreads === undefined)
        await listeners.addAddress({ host: '::1', port: boundPort, reusePort });
      if (socketFile) await listeners.addSocketFile(socketFile.path, socketFile.access);
      return { host, port: boundPort, url: serverUrl(host, boundPort) };
    },
    running: () => ({ requests: context.running.count, streams: context.responder.streamsOpen }),
    inject: app.inject.bind(app) as FastifyInstance['inject'],
    leave,
    drain,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

async function drainRequests({ running, limits }: ServerContext, deadlineMs: number): Promise<void> {
  if (await running.emptyWithin(deadlineMs)) return;
  running.endAll();
  if (await running.emptyWithin(limits.drainGraceMs)) return;
  running.cutAll();
  // Handlers learn of the closed connection in a later turn; one that never ends is not waited for.
  await running.emptyWithin(closeGraceMs);
}

function makeFastify(context: ServerContext): FastifyInstance {
  const { limits, options } = context;
  const raw = rawAnswers({ makeRequestId: options.makeRequestId, version: options.version });
  const app = Fastify({
    logger: false,
    requestIdHeader: false,
    trustProxy: false,
    return503OnClosing: false,
    bodyLimit: limits.bodyBytesMax,
    rewriteUrl: readPath,
    // Routes have no schemas, as contracts check their input: Fastify's own validators are not loaded.
    schemaController: { compilersFactory: { buildValidator: () => noValidator } },
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    routerOptions: {
      maxParamLength: limits.pathParameterCharsMax,
      // Base URLs are often configured with a slash at their end.
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
    },
    http: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.connectionCheckMs,
      // The guard refuses a missing Host itself: Node's own answer has no request id.
      requireHostHeader: false,
    },
    clientErrorHandler: raw.onClientError,
    frameworkErrors(error, request, reply) {
      const call = startRequest(context, request.raw, reply.raw);
      if (acceptRequest(context, call)) context.responder.fail(call, toApiError(error, limits.bodyBytesMax));
    },
  });
  app.server.maxHeadersCount = 0;
  const filesMax = openFilesMax();
  const connectionsMax = limits.connectionsMax ?? (filesMax && connectionsMaxFor(filesMax));
  if (connectionsMax !== undefined) app.server.maxConnections = connectionsMax;
  outliveConnections(app.server);
  closeTimedOutConnections(app.server);
  context.forwarder?.attachTo(app.server);
  closeQueuedResponses(app.server);
  raw.attachTo(app.server);
  if (context.forwarder === undefined) serveUpgrades(app.server, context);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    const { call } = request;
    const take = (plain: Buffer): void => {
      try {
        if (!call.isAnswered) context.largeBodies.hold(call, plain.length);
        const isForHandler = call.endpoint?.ownFaults !== undefined;
        // A body that cannot be parsed is kept only to be forwarded, as many of them are large.
        if (context.forwarder !== undefined) call.rawBody = plain;
        const body = isForHandler ? undefined : parseJson(plain, limits.jsonDepthMax);
        call.rawBody = plain;
        const turn = loopTurns.next(plain.length);
        if (turn === undefined) done(null, body);
        else void turn.then(() => done(null, body));
      } catch (error) {
        done(error as Error);
      }
    };
    const inTurn = async (turn: Promise<void>, plain: Buffer): Promise<void> => {
      await turn;
      take(plain);
    };
    const takeSoon = (plain: Buffer) => {
      const turn = loopTurns.next(plain.length);
      return turn === undefined ? take(plain) : inTurn(turn, plain);
    };
    if (call.headers['content-encoding'] === undefined) void takeSoon(bytes as Buffer);
    else {
      const { headers, caller, remoteAddress } = call;
      const bytesMax = call.endpoint?.bodyLimit ?? limits.bodyBytesMax;
      const owner = 'workspaceId' in caller ? caller.workspaceId : remoteAddress;
      decompress(
        { bytes: bytes as Buffer, headers, bytesMax, owner },
        context.decompressions,
        takeSoon,
      ).catch(done);
    }
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { call } = request;
    if (call.headers['transfer-encoding'] === undefined) done(null, payload);
    else done(null, payload.pipe(countedBody((bytes) => context.largeBodies.hold(call, bytes))));
  });
  app.decorateRequest('call', null as never);
  app.addHook('onRequest', (request, reply, done) => {
    request.call = startRequest(context, request.raw, reply.raw);
    if (!acceptRequest(context, request.call)) return;
    if (!request.is404) return done();
    // Before the body is read, as nothing will use it.
    refuseUnmatched(context, request.call);
  });
  app.setErrorHandler((error: FastifyError, { call }) => {
    context.responder.fail(call, toApiError(error, call.endpoint?.bodyLimit ?? limits.bodyBytesMax));
  });
  return app;
}

/** The path that is meant, without the key that it may hold, which becomes a header before anything reads either. */
function readPath(request: { url?: string; headers: IncomingHttpHeaders }): string {
  const { url = '/' } = request;
  const keyed = url.startsWith(keyedPrefix) ? keyInPath(url) : undefined;
  if (keyed === undefined) return servedPath(url);
  request.headers[gatewayKeyHeader] ??= keyed.key;
  // What Fastify keeps of the path as it came must not hold the key.
  request.url = keyed.path;
  return servedPath(keyed.path);
}

function noValidator(): never {
  throw new Error('input is checked by contracts, not by schemas of routes');
}

function refuseUnmatched(context: ServerContext, call: ServerCall): void {
  const { unmatchedRequest, responder } = context;
  const refuse = () => {
    const error = unmatchedRequest(call);
    if (error) responder.fail(call, error);
    else responder.empty(call, {});
  };
  void identify(context, call).then(refuse, refuse);
}

/** Finds out who sent a request that gets no answer anyway, as they will look for it among their rejected calls. */
async function identify({ options }: ServerContext, call: ServerCall): Promise<void> {
  const { requestId, remoteAddress } = call;
  const credential = credentialIn(call);
  if (credential === undefined) return;
  const authContext = { endpoint: undefined, requestId, remoteAddress };
  call.caller = await options.authenticate(credential, authContext);
}

/** Translates Fastify's errors. */
function toApiError(error: FastifyError, bodyBytesMax: number): unknown {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return bodyTooLarge(bodyBytesMax);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', { message: 'The body does not match its Content-Length.' });
    case 'FST_ERR_BAD_URL':
      return new ApiError('invalid_request', { message: 'The path is not valid.' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('not_found');
    default:
      return error;
  }
}
