import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import type { Endpoint, SocketShape } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import { versionHeader } from '../../../shared/version.ts';
import { type Handler, SocketReply } from '../../handler.ts';
import { admission } from '../endpoint-route.ts';
import { beginCall, passFrontDoor } from '../front-door.ts';
import type { Room } from '../room.ts';
import type { ServerCall } from '../server-call.ts';
import { OpenSocket } from './open-socket.ts';
import { serveWithoutUpgrade } from './without-upgrade.ts';

/** Opens WebSockets to the endpoints that have one. A handshake that is refused is answered as any request is. */
export function serveUpgrades(server: Server, room: Room): void {
  const doors = new Map(
    [...room.socketAt].map(([path, handler]) => [path, socketDoor(handler, room)] as const),
  );
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // An answer on its way would have this one's in the middle of it, and after a new beginning nobody would send its own.
    if ((socket as Socket & { _httpMessage?: unknown })._httpMessage) {
      socket.destroy();
      return;
    }
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      serveWithoutUpgrade(server, { request, socket, head });
      return;
    }
    socket.on('error', () => socket.destroy());
    const call = beginCall(room, request, responseOn(socket, request));
    if (!passFrontDoor(room, call)) return;
    const [path = ''] = (request.url ?? '').split('?', 1);
    const door = request.method === 'GET' ? doors.get(path) : undefined;
    if (door) door(call, { socket, head });
    else void refuse(room, call, path);
  });
}

/** For answers to a request that asked to leave HTTP; the connection ends with it, as its client waits for frames. */
function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
}

interface Line {
  socket: Socket;
  /** What came after the handshake. */
  head: Buffer;
}

/** What leads to the sockets of one endpoint: admission, the handshake, and the feature that answers. */
function socketDoor({ endpoint, handle }: Handler, room: Room) {
  const { socket: shape } = endpoint;
  if (!shape) throw new TypeError(`${endpoint.id} has no socket`);
  const withSocket = { ...endpoint, socket: shape };
  const admit = admission(endpoint, 0, room);
  let opening: Promise<WebSocketServer> | undefined;
  const open = async (call: ServerCall, line: Line): Promise<void> => {
    try {
      opening ??= handshakes(withSocket, room);
      const [shaker, reply] = await Promise.all([opening, handle(call)]);
      if (!(reply instanceof SocketReply)) throw new TypeError(`${endpoint.id} answers no messages`);
      if (line.socket.destroyed) return;
      if (room.isDraining) throw new ApiError('unavailable', { message: 'The daemon is stopping.' });
      shake(shaker, { room, call, endpoint: withSocket, reply, line });
    } catch (error) {
      room.responder.fail(call, error);
    }
  };
  return (call: ServerCall, line: Line): void => admit(call, () => void open(call, line));
}

interface Shake {
  room: Room;
  call: ServerCall;
  endpoint: Endpoint & { socket: SocketShape };
  reply: SocketReply<unknown>;
  line: Line;
}

const calls = new WeakMap<IncomingMessage, ServerCall>();

function shake(shaker: WebSocketServer, { room, call, endpoint, reply, line }: Shake): void {
  const { socket, head } = line;
  calls.set(call.request, call);
  shaker.handleUpgrade(call.request, socket, head, (webSocket) => {
    call.response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
    call.response.statusCode = 101;
    call.upgraded = socket;
    new OpenSocket({ room, call, endpoint, reply, webSocket, socket });
  });
}

/** The library that speaks the protocol, loaded when the first socket is opened. */
async function handshakes({ socket }: { socket: SocketShape }, room: Room): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  const shaker = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // A compressed frame is a small thing that grows, and on loopback it saves nothing.
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: socket.messageLimit,
  });
  shaker.on('headers', (headers, request) => {
    headers.push(
      `x-request-id: ${calls.get(request)?.requestId}`,
      `${versionHeader}: ${room.options.version}`,
    );
  });
  shaker.on('wsClientError', (error, _socket, request) => {
    const call = calls.get(request);
    if (call) room.responder.fail(call, new ApiError('invalid_request', { message: `${error.message}.` }));
  });
  return shaker;
}

/** Where there is no socket: whoever has no credential is told that first. */
async function refuse(room: Room, call: ServerCall, path: string): Promise<void> {
  call.endpoint = room.endpointAt.get(path);
  try {
    const { endpoint, requestId, remoteAddress } = call;
    const context = { endpoint, requestId, remoteAddress };
    const caller = await room.options.authenticate(call.headers.authorization, context);
    if (caller.kind === 'nobody') throw new ApiError('unauthenticated');
    call.endpoint = undefined;
    throw new ApiError('not_found');
  } catch (error) {
    room.responder.fail(call, error);
  }
}
