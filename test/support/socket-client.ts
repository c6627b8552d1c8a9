import type { IncomingMessage } from 'node:http';
import type { TSchema } from 'typebox';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { connectResponses } from '../../src/shared/contract/response-socket.ts';
import { violationOf } from './check-streams.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames are looked into by path.
export type Event = any;

/** A client of a WebSocket that remembers all it was sent; each event must have the schema of the API description. */
export interface SocketClient {
  webSocket: WebSocket;
  /** The answer to the handshake. */
  upgrade: IncomingMessage;
  events: Event[];
  /** Set once the socket is closed. */
  closed: Promise<{ code: number; reason: string }>;
  readonly isClosed: boolean;
  send(message: object | string | Buffer): void;
  /** Resolves to the first event that fits, of those that no earlier call gave away. */
  next(fits?: (event: Event) => boolean): Promise<Event>;
  /** Sends a message and resolves to all events up to the one that ends its answer. */
  ask(message: object | string | Buffer): Promise<Event[]>;
  /** Drops the events that were given away. */
  forget(): void;
  disconnect(): void;
}

// A failure in the middle of an answer has a place among its events, and `response.failed` after it.
const isLast = ({ type, sequence_number: place }: Event) =>
  /^response\.(completed|incomplete|failed)$/.test(type) || (type === 'error' && place === undefined);

interface SocketOptions {
  key?: string;
  headers?: Record<string, string>;
  /** The schema of what the server sends, if it is not that of Responses. */
  event?: TSchema;
}

/** Opens a socket; rejects with `{status, headers, body}` of a refusal. */
export function openSocket(
  url: string,
  { key, headers = {}, event = connectResponses.socket.event }: SocketOptions = {},
): Promise<SocketClient> {
  const webSocket = new WebSocket(url.replace(/^http/, 'ws'), {
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  });
  const violations: string[] = [];
  onTestFinished(() => {
    webSocket.terminate();
    expect(violations).toEqual([]);
  });
  return new Promise((resolve, reject) => {
    let upgrade: IncomingMessage;
    webSocket.on('upgrade', (answer) => {
      upgrade = answer;
    });
    webSocket.on('unexpected-response', (_request, answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      answer.on('end', () => reject({ status: answer.statusCode, headers: answer.headers, body }));
    });
    webSocket.on('error', reject);
    webSocket.on('message', (data) => {
      const violation = violationOf(JSON.parse(String(data)), event);
      if (violation) violations.push(violation);
    });
    const client = clientOf(webSocket);
    webSocket.on('open', () =>
      resolve({
        ...client,
        upgrade,
        get isClosed() {
          return client.isClosed;
        },
      }),
    );
  });
}

function clientOf(webSocket: WebSocket): Omit<SocketClient, 'upgrade'> {
  const events: Event[] = [];
  let given = 0;
  let isClosed = false;
  const watchers: (() => void)[] = [];
  const changed = () => {
    for (const tell of watchers.splice(0)) tell();
  };
  webSocket.on('message', (data) => {
    events.push(JSON.parse(String(data)));
    changed();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    webSocket.on('close', (code, reason) => {
      isClosed = true;
      changed();
      resolve({ code, reason: String(reason) });
    });
  });
  const next = async (fits: (event: Event) => boolean = () => true): Promise<Event> => {
    for (;;) {
      const at = events.findIndex((event, index) => index >= given && fits(event));
      if (at >= 0) {
        given = at + 1;
        return events[at];
      }
      if (isClosed) throw new Error(`closed after ${JSON.stringify(events.slice(given))}`);
      await new Promise<void>((resolve) => watchers.push(resolve));
    }
  };
  const send = (message: object | string | Buffer) => {
    const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
    webSocket.send(isRaw ? message : JSON.stringify(message));
  };
  return {
    webSocket,
    events,
    closed,
    get isClosed() {
      return isClosed;
    },
    send,
    next,
    async ask(message) {
      const from = given;
      send(message);
      await next(isLast);
      return events.slice(from, given);
    },
    forget() {
      events.splice(0, given);
      given = 0;
    },
    disconnect: () => webSocket.terminate(),
  };
}
