import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';

/** One call to the chaos upstream, for a behavior to answer. */
export interface ChaosCall {
  socket: Socket;
  wire: Wire;
  model: string;
  stream: boolean;
  body: Record<string, unknown>;
  /** The request head as it came. */
  head: string;
  /** Set by a behaviour that has written its whole answer. */
  isAnswered: boolean;
  /** Whether the connection has closed. */
  isClosed: boolean;
}

/** Answers a call, or fails to. */
export type Behaviour = (call: ChaosCall) => void;

export interface ChaosUpstream {
  /** With `/v1`. */
  baseUrl: string;
  /** All calls so far, in order. */
  calls: ChaosCall[];
  callsOf(model: string): ChaosCall[];
  /** Sets a model's behavior; without it, a model answers normally. */
  on(model: string, behaviour: Behaviour): void;
  /**
   * Adds a model with that behavior to the upstream of that name; returns its id. No other test uses it, so its health
   * affects only its test.
   */
  addModel(upstream: string, behaviour: Behaviour): string;
  /** Connections on which a call is under way. */
  readonly busy: number;
  readonly connections: number;
  close(): Promise<void>;
}

/**
 * A provider over a raw socket on a free port of loopback, with all three formats, that misbehaves as it
 * is configured to, byte for byte. The caller closes it.
 */
export async function startChaosUpstream(usual: Behaviour): Promise<ChaosUpstream> {
  const behaviours = new Map<string, Behaviour>();
  const calls: ChaosCall[] = [];
  let models = 0;
  const open = new Set<Socket>();
  const underWay = new Set<ChaosCall>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    open.add(socket);
    let received: Buffer = Buffer.alloc(0);
    let current: ChaosCall | undefined;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (current === undefined) return;
      current.isClosed = true;
      underWay.delete(current);
    });
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const request = takeRequest(received);
      if (request === undefined) return;
      received = request.rest;
      if (current !== undefined) underWay.delete(current);
      current = { socket, ...request.call, isAnswered: false, isClosed: false };
      calls.push(current);
      underWay.add(current);
      (behaviours.get(current.model) ?? usual)(current);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    callsOf: (model) => calls.filter((call) => call.model === model),
    on: (model, behaviour) => behaviours.set(model, behaviour),
    addModel(upstream, behaviour) {
      models += 1;
      behaviours.set(`m${models}`, behaviour);
      return `${upstream}/m${models}`;
    },
    get busy() {
      return [...underWay].filter((call) => !call.isAnswered).length;
    },
    get connections() {
      return open.size;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Asked = Pick<ChaosCall, 'wire' | 'model' | 'stream' | 'body' | 'head'>;

/** The first whole request in what was received, and the bytes after it. */
function takeRequest(received: Buffer): { call: Asked; rest: Buffer } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const bodyAt = end + 4;
  if (received.length < bodyAt + length) return undefined;
  const text = received.toString('utf8', bodyAt, bodyAt + length);
  const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  const path = head.slice(0, head.indexOf('\r\n'));
  const wire = path.includes('/chat/') ? 'chat' : path.includes('/messages') ? 'messages' : 'responses';
  return {
    call: { wire, model: String(body.model), stream: body.stream === true, body, head },
    rest: received.subarray(bodyAt + length),
  };
}
