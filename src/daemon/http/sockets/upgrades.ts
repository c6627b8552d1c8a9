import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { WebSocketServer } from 'ws';
import type { Endpoint, SocketShape } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { versionHeader } from '../../../shared/version.ts';
import { type Handler, SocketReply } from '../../base/handler.ts';
import { createAccessCheck } from '../endpoint-route.ts';
import { acceptRequest, servedPath, startRequest } from '../request-lifecycle.ts';
import type { ServerCall } from '../server-call.ts';
import type { ServerContext } from '../server-context.ts';
import { OpenSocket } from './open-socket.ts';
import { acceptWebSockets, type WebSocketOffer } from './upgrade-offers.ts';

/** Opens WebSockets for the endpoints that have one. A rejected handshake gets a normal HTTP error. */
export function serveUpgrades(server: Server, context: ServerContext): void {
  const listeners = new Map(
    [...context.socketAt].map(([path, handler]) => [path, socketDoor(handler, context)] as const),
  );
  acceptWebSockets(server, ({ request, response, socket, head }) => {
    const call = startRequest(context, request, response);
    if (!acceptRequest(context, call)) return;
    const path = plainPath(request.url);
    const door = listeners.get(path);
    if (door) door(call, { socket, head });
    else void refuse(context, call, path);
  });
}

/** The path as the router of HTTP requests reads it: without doubled and trailing slashes. */
function plainPath(url = ''): string {
  const [path = ''] = servedPath(url).split('?', 1);
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '');
}

type Connection = Pick<WebSocketOffer, 'socket' | 'head'>;

/** Opens the sockets of one endpoint: admission, handshake, and the feature that responds. */
function socketDoor({ endpoint, handle }: Handler, context: ServerContext) {
  const { socket: shape } = endpoint;
  if (!shape) throw new TypeError(`${endpoint.id} has no socket`);
  const withSocket = { ...endpoint, socket: shape };
  const allow = createAccessCheck(endpoint, 0, context);
  let opening: Promise<WebSocketServer> | undefined;
  const open = async (call: ServerCall, connection: Connection): Promise<void> => {
    try {
      call.isTaken = true;
      opening ??= createSocketServer(withSocket, context);
      const [socketServer, reply] = await Promise.all([opening, handle(call)]);
      if (!(reply instanceof SocketReply)) throw new TypeError(`${endpoint.id} answers no messages`);
      if (connection.socket.destroyed) return;
      if (context.isDraining) throw new ApiError('unavailable', { message: 'The daemon is stopping.' });
      completeHandshake(socketServer, { context, call, endpoint: withSocket, reply, connection });
    } catch (error) {
      context.responder.fail(call, error);
    }
  };
  return (call: ServerCall, connection: Connection): void => allow(call, () => void open(call, connection));
}

interface Handshake {
  context: ServerContext;
  call: ServerCall;
  endpoint: Endpoint & { socket: SocketShape };
  reply: SocketReply<unknown>;
  connection: Connection;
}

const calls = new WeakMap<IncomingMessage, ServerCall>();

function completeHandshake(
  socketServer: WebSocketServer,
  { context, call, endpoint, reply, connection }: Handshake,
): void {
  const { socket, head } = connection;
  calls.set(call.request, call);
  socketServer.handleUpgrade(call.request, socket, head, (webSocket) => {
    call.response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
    call.response.statusCode = 101;
    call.upgraded = socket;
    new OpenSocket({ context, call, endpoint, reply, webSocket, socket });
  });
}

/** Loads the WebSocket library when the first socket is opened. */
async function createSocketServer(
  { socket }: { socket: SocketShape },
  context: ServerContext,
): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  const socketServer = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compressed frames can expand without bound, and save nothing on loopback.
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: socket.messageLimit,
  });
  socketServer.on('headers', (headers, request) => {
    headers.push(
      `x-request-id: ${calls.get(request)?.requestId}`,
      `${versionHeader}: ${context.options.version}`,
    );
  });
  socketServer.on('wsClientError', (error, _socket, request) => {
    const call = calls.get(request);
    if (call) context.responder.fail(call, new ApiError('invalid_request', { message: `${error.message}.` }));
  });
  return socketServer;
}

/** Rejects an upgrade where there is no socket. A missing credential is reported first. */
async function refuse(context: ServerContext, call: ServerCall, path: string): Promise<void> {
  call.endpoint = context.endpointAt.get(path);
  try {
    const { endpoint, requestId, remoteAddress } = call;
    const authContext = { endpoint, requestId, remoteAddress };
    const caller = await context.options.authenticate(call.headers.authorization, authContext);
    if (caller.kind === 'anonymous') throw new ApiError('unauthenticated');
    call.caller = caller;
    call.endpoint = undefined;
    throw context.unmatchedRequest(call) ?? new ApiError('not_found');
  } catch (error) {
    context.responder.fail(call, error);
  }
}
