import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Json = Record<string, unknown>;

export interface ReceivedRequest {
  method: string;
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** An empty object where there was no JSON. */
  body: Json;
}

/** How a stream ends before its time: closed as if it were whole, torn off, or held open without a word. */
export type Interruption = 'close' | 'reset' | 'stall';

export type ProviderReply =
  | { kind: 'document'; status: number; headers?: Record<string, string>; json: unknown }
  | { kind: 'stream'; events: string[]; interruption?: Interruption };

/** A provider that answers each call from a test's script. */
export interface ScriptedProvider<Answer> {
  baseUrl: string;
  /** Every request, also those that were refused. */
  requests: ReceivedRequest[];
  /** How many clients left before their answer was whole. */
  readonly dropped: number;
  untilDropped(count: number): Promise<void>;
  /** Scripts the next answers, in this order. */
  answer(...answers: Answer[]): void;
  /** Forgets what was asked and what is scripted still. */
  forget(): void;
  close(): Promise<void>;
}

/**
 * A real HTTP server on a free port of loopback, with `path` at the end of its address. What it answers is up to
 * `reply`, which takes the next scripted answer, or undefined when none is left.
 */
export async function startScriptedProvider<Answer>(
  reply: (request: ReceivedRequest, next: () => Answer | undefined) => ProviderReply,
  { path = '' } = {},
): Promise<ScriptedProvider<Answer>> {
  const queue: Answer[] = [];
  const requests: ReceivedRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let dropped = 0;

  const server = createServer((incoming, outgoing) => {
    void receive(incoming).then((request) => {
      requests.push(request);
      const answer = reply(request, () => queue.shift());
      const tearsOff = answer.kind === 'stream' && answer.interruption === 'reset';
      outgoing.on('close', () => {
        if (outgoing.writableFinished || tearsOff) return;
        dropped += 1;
        for (const { count, resolve } of waiting) if (dropped >= count) resolve();
      });
      send(outgoing, answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}${path}`,
    requests,
    get dropped() {
      return dropped;
    },
    untilDropped: (count) =>
      dropped >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    answer: (...answers) => void queue.push(...answers),
    forget: () => {
      queue.length = 0;
      requests.length = 0;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: text === '' ? {} : (JSON.parse(text) as Json) };
}

function send(outgoing: ServerResponse, reply: ProviderReply): void {
  if (reply.kind === 'document') {
    outgoing.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    outgoing.end(JSON.stringify(reply.json));
    return;
  }
  outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of reply.events) outgoing.write(event);
  if (reply.interruption === 'stall') return;
  if (reply.interruption !== 'reset') outgoing.end();
  // What was written must have left before the connection is torn.
  else outgoing.write(': \n', () => outgoing.destroy());
}

/** A text in pieces as models write it; no character is cut in two. */
export function pieces(text: string, length = 12): string[] {
  const characters = [...text];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += length) cut.push(characters.slice(at, at + length).join(''));
  return cut;
}
