import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { Type } from 'typebox';
import { onTestFinished } from 'vitest';
import { type Caller, type Handler, implement, StreamReply } from '../../../src/daemon/base/handler.ts';
import { createServer, type HttpServer } from '../../../src/daemon/http/server.ts';
import type { FinishedRequest, HttpServerOptions } from '../../../src/daemon/http/server-options.ts';
import { type Endpoint, endpoint, type ScopeName } from '../../../src/shared/contract/endpoint.ts';
import { ApiError } from '../../../src/shared/errors.ts';

const never = new AbortController().signal;

export function keyWith(...scopes: ScopeName[]): Caller {
  return {
    kind: 'key',
    keyId: 'key_1',
    workspaceId: 'ws_1',
    ownerId: 'usr_1',
    scopes: new Set(scopes),
    revoked: never,
  };
}

const login: Caller = {
  kind: 'login',
  loginId: 'key_2',
  userId: 'usr_1',
  workspaceId: 'ws_1',
  revoked: never,
};

/**
 * `Bearer key:runs,keys` is a key with those scopes, `Bearer login` a login, no header an anonymous caller, anything
 * else is invalid.
 */
export function authenticate(authorization: string | undefined): Caller {
  if (authorization === undefined) return { kind: 'anonymous' };
  if (authorization === 'Bearer login') return login;
  const scopes = /^Bearer key:([a-z:,]*)$/.exec(authorization)?.[1];
  if (scopes === undefined) throw new ApiError('unauthenticated');
  return keyWith(...(scopes.split(',').filter(Boolean) as ScopeName[]));
}

/** A minimal endpoint, for tests of one aspect. */
export function anEndpoint(parts: Partial<Endpoint>): Endpoint {
  return endpoint({
    id: 'anEndpoint',
    method: 'POST',
    path: '/v1/things',
    summary: 'Does something.',
    tag: 'Daemon',
    access: { anonymous: true, apiKey: 'any', login: 'any' },
    result: Type.Unknown(),
    errors: [],
    ...parts,
  });
}

/** Returns its input. */
export const echo = implement(
  anEndpoint({ id: 'echo', path: '/v1/echo', body: Type.Unknown(), bodyRequired: false }),
  async ({ body }) => ({ body }),
);

export const ping = implement(anEndpoint({ id: 'ping', method: 'GET', path: '/v1/ping' }), async () => ({
  pong: true,
}));

/** `GET /v1/things`, which streams one event immediately and a second one later. */
export function aStream(later: Promise<void>): Handler {
  return implement(
    anEndpoint({ method: 'GET', stream: { event: {}, done: true, always: true } }),
    async () => {
      return new StreamReply({}, chunks());
    },
  );
  async function* chunks() {
    yield 'data: 1\n\n';
    await later;
    yield 'data: 2\n\n';
  }
}

export interface Logged {
  data: Record<string, unknown>;
  message: string;
}

export interface Fixture {
  server: HttpServer;
  logged: Logged[];
  finished: FinishedRequest[];
}

export async function aServer(
  handlers: readonly Handler[],
  options: Partial<HttpServerOptions> = {},
): Promise<Fixture> {
  const logged: Logged[] = [];
  const finished: FinishedRequest[] = [];
  const write = (data: object, message: string) => {
    logged.push({ data: data as Record<string, unknown>, message });
  };
  let requests = 0;
  const server = await createServer({
    handlers,
    authenticate,
    makeRequestId: () => {
      requests += 1;
      return `req_${requests}`;
    },
    log: { info: write, warn: write, error: write },
    version: '1.2.3',
    onFinish: (request) => finished.push(request),
    ...options,
    limits: { drainGraceMs: 200, publicBurst: 1e6, publicStreamsMax: 1e6, ...options.limits },
  });
  onTestFinished(() => server.close());
  return { server, logged, finished };
}

export async function aListeningServer(
  handlers: readonly Handler[],
  options: Partial<HttpServerOptions> = {},
): Promise<Fixture & { port: number; url: string }> {
  const fixture = await aServer(handlers, options);
  const { port, url } = await fixture.server.listen({ host: '127.0.0.1', port: 0 });
  return { ...fixture, port, url };
}

/** A raw connection, to send what no HTTP client would. */
export class Wire {
  readonly socket: Socket;
  received = '';
  isClosed = false;
  #watchers: (() => void)[] = [];

  /** Connects to a local port, or to anything that `net.connect` accepts. */
  constructor(place: number | NetConnectOpts) {
    const to = typeof place === 'number' ? { port: place, host: '127.0.0.1' } : place;
    this.socket = connect({ ...to, allowHalfOpen: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text) => {
      this.received += text;
      this.#changed();
    });
    const closed = () => {
      this.isClosed = true;
      this.#changed();
    };
    this.socket.on('error', closed).on('end', closed).on('close', closed);
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Resolves once the received text matches; fails when the connection closes first. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.isClosed) throw new Error(`closed after: ${this.received}`);
      await this.#change();
    }
    return this.received;
  }

  /** Everything received until the other side closed. */
  async all(): Promise<string> {
    while (!this.isClosed) await this.#change();
    return this.received;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #changed(): void {
    for (const resolve of this.#watchers.splice(0)) resolve();
  }
}

export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** A promise that a test settles. */
export function gate<T = void>() {
  return Promise.withResolvers<T>();
}
