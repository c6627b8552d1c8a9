import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { chatChunks, chatDocument } from './fake-openai-chat.ts';

export interface SlotServer {
  /** Ends with `/v1`. */
  url: string;
  /** Calls that it works on now. */
  readonly running: number;
  /** The most that it ever worked on at once. */
  readonly most: number;
  /** The models of all requests, in order. */
  asked: string[];
  /** Ends the oldest running calls. */
  finish(count?: number): void;
  /** Answers each call by itself from now on, after some turns of the event loop. */
  answerAll(): void;
  /** Fails each call from now on. */
  failAll(): void;
  close(): Promise<void>;
}

interface Running {
  stream: boolean;
  response: ServerResponse;
}

/** How long a call that finds no place waits for connections that were closed before, in turns of the event loop. */
const graceTurns = 500;

/**
 * A server with OpenAI's chat format that counts what it works on at once. It starts a stream at once and ends an answer when it is
 * told to. That a client closed a connection may be noticed after its next request: with `places`, a call that finds none waits for
 * that, and no answer ends meanwhile.
 */
export async function startSlotServer(places = Number.POSITIVE_INFINITY): Promise<SlotServer> {
  const running = new Set<Running>();
  const asked: string[] = [];
  let most = 0;
  let mode: 'wait' | 'answer' | 'fail' = 'wait';
  const end = (call: Running) => {
    if (!running.delete(call)) return;
    const { response, stream } = call;
    if (mode === 'fail') {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"It is broken."}}');
    } else if (!stream) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(chatDocument({ text: 'Hello.' }, { model: 'm' })));
    } else response.end(eventsOf(2));
  };
  let arriving = 0;
  const answer = async (call: Running) => {
    for (let turns = 0; turns < 20 || arriving > 0; turns += 1) await turn();
    end(call);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { model, stream = false } = JSON.parse(Buffer.concat(chunks).toString()) as {
        model: string;
        stream?: boolean;
      };
      arriving += 1;
      for (let turns = 0; turns < graceTurns && running.size >= places; turns += 1) await turn();
      arriving -= 1;
      const call = { stream, response };
      asked.push(model);
      running.add(call);
      most = Math.max(most, running.size);
      response.on('close', () => running.delete(call));
      if (stream && mode !== 'fail') {
        response.setHeader('content-type', 'text/event-stream');
        response.write(eventsOf(0, 2));
      }
      if (mode !== 'wait') void answer(call);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const answerRunning = () => {
    for (const call of running) void answer(call);
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    get running() {
      return running.size;
    },
    get most() {
      return most;
    },
    finish(count = 1) {
      for (const call of [...running].slice(0, count)) end(call);
    },
    answerAll() {
      mode = 'answer';
      answerRunning();
    },
    failAll() {
      mode = 'fail';
      answerRunning();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function eventsOf(from: number, to?: number): string {
  const chunks = chatChunks({ text: 'Hello.' }, { model: 'm' }).slice(from, to);
  return chunks.map((chunk) => `data: ${chunk}\n\n`).join('');
}
