import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { chatChunks, chatDocument } from './fake-openai-chat.ts';
import { chatFault, countFault, responsesFault } from './fake-openai-checks.ts';
import { embeddingDocument, embeddingFault } from './fake-openai-embeddings.ts';
import { responsesDocument, responsesEvents } from './fake-openai-responses.ts';
import type { FakeAnswer, FakeError, FakeRequest } from './fake-openai-script.ts';

export type { FakeAnswer, FakeCall, FakeError, FakeRequest, FakeUsage } from './fake-openai-script.ts';

type Scripted = FakeAnswer | ((request: FakeRequest) => FakeAnswer);

export interface FakeOpenAi {
  /** Including `/v1`. */
  baseUrl: string;
  /** All requests, in order; may be emptied. */
  requests: FakeRequest[];
  /** The next answers, in order; after them, the default answer. */
  script(...answers: Scripted[]): void;
  /** Clears requests and scripted answers. */
  forget(): void;
  /** The default answer. */
  always(answer: Scripted): void;
  /** The number of answers in progress. */
  readonly open: number;
  /** The number of answers that were left early. */
  readonly dropped: number;
  /** Resolves when no answer is in progress. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface FakeOpenAiOptions {
  /** Accepted keys; by default any or none. */
  keys?: string[];
  /** Models that exist; any by default. */
  models?: string[];
}

/**
 * A fake provider with OpenAI's two formats on a free loopback port. It refuses bodies that OpenAI would refuse. The
 * caller must close it.
 */
export async function startFakeOpenAi(options: FakeOpenAiOptions = {}): Promise<FakeOpenAi> {
  const fake = new Fake(options);
  const server = createServer((request, response) => {
    fake.serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fake.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  fake.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return fake;
}

class Fake implements FakeOpenAi {
  baseUrl = '';
  requests: FakeRequest[] = [];
  open = 0;
  dropped = 0;
  close: () => Promise<void> = async () => undefined;
  readonly #options: FakeOpenAiOptions;
  readonly #queue: Scripted[] = [];
  #usual: Scripted = {};
  #waiting: (() => void)[] = [];

  constructor(options: FakeOpenAiOptions) {
    this.#options = options;
  }

  script(...answers: Scripted[]): void {
    this.#queue.push(...answers);
  }

  forget(): void {
    this.#queue.length = 0;
    this.requests.length = 0;
  }

  always(answer: Scripted): void {
    this.#usual = answer;
  }

  async idle(): Promise<void> {
    if (this.open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    response.once('close', () => {
      this.open -= 1;
      if (!response.writableFinished) this.dropped += 1;
      if (this.open === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
    const request = await readRequest(incoming);
    this.requests.push(request);
    const refusal = this.#refusal(request);
    if (refusal) sendError(response, refusal);
    else if (request.path === '/v1/models') sendJson(response, this.#models());
    else await this.#answer(request, response);
  }

  #refusal({ method, path, headers, body }: FakeRequest): FakeError | undefined {
    const { keys, models } = this.#options;
    if (keys && !keys.some((key) => headers.authorization === `Bearer ${key}`)) {
      const type = 'invalid_request_error';
      return {
        status: 401,
        type,
        code: 'invalid_api_key',
        message: `Incorrect API key: ${headers.authorization}`,
      };
    }
    if (path === '/v1/models' && method === 'GET') return undefined;
    const check = {
      '/v1/chat/completions': chatFault,
      '/v1/responses': responsesFault,
      '/v1/responses/input_tokens': countFault,
      '/v1/embeddings': embeddingFault,
    }[path];
    if (!check || method !== 'POST') return { status: 404, message: `Invalid URL (${method} ${path})` };
    if (!body)
      return { status: 400, type: 'invalid_request_error', message: 'We could not parse the JSON body.' };
    const fault = check(body);
    if (fault) return fault;
    if (models && !models.includes(String(body.model))) {
      return {
        status: 404,
        code: 'model_not_found',
        message: `The model '${String(body.model)}' does not exist.`,
      };
    }
    return undefined;
  }

  #models(): object {
    const ids = this.#options.models ?? ['gpt-fake'];
    return { object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'fake' })) };
  }

  async #answer(request: FakeRequest, response: ServerResponse): Promise<void> {
    const scripted = this.#queue.shift() ?? this.#usual;
    const answer = typeof scripted === 'function' ? scripted(request) : scripted;
    const body = request.body ?? {};
    const isChat = request.path === '/v1/chat/completions';
    if (answer.silent) return;
    for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
    if (answer.error) return sendError(response, answer.error);
    if (answer.raw) {
      const { status = 200, headers = { 'content-type': 'application/json' }, body: bytes } = answer.raw;
      response.writeHead(status, headers).end(bytes);
    } else if (request.path === '/v1/responses/input_tokens') {
      sendJson(response, { object: 'response.input_tokens', input_tokens: 4242 });
    } else if (request.path === '/v1/embeddings') {
      sendJson(response, embeddingDocument(answer, body));
    } else if (body.stream !== true) {
      sendJson(response, isChat ? chatDocument(answer, body) : responsesDocument(answer, body));
    } else {
      await sendStream(response, answer, {
        events: isChat ? chatEvents(answer, body) : typedEvents(answer, body),
        isChat,
      });
    }
  }
}

function chatEvents(answer: FakeAnswer, body: Record<string, unknown>): string[] {
  return chatChunks(answer, body).map((data) => `data: ${data}\n\n`);
}

function typedEvents(answer: FakeAnswer, body: Record<string, unknown>): string[] {
  return responsesEvents(answer, body).map(
    (event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
  );
}

async function sendStream(
  response: ServerResponse,
  answer: FakeAnswer,
  { events, isChat }: { events: string[]; isChat: boolean },
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_fake' });
  const { breakAfter, dripMs } = answer;
  const sent = breakAfter ? events.slice(0, breakAfter.events) : events;
  if (dripMs === undefined) {
    await write(response, sent.join(''), answer.bytesPerWrite);
  } else {
    for (const event of sent) {
      await write(response, event, answer.bytesPerWrite);
      await wait(dripMs);
      if (response.destroyed) return;
    }
  }
  if (breakAfter?.by === 'stall') return;
  if (breakAfter?.by === 'cut') {
    response.destroy();
    return;
  }
  if (breakAfter?.by === 'error') {
    const { code = 'server_error' } = breakAfter;
    const error = { type: 'server_error', code, message: 'The server had an error.', param: null };
    const flat = { ...error, type: 'error', sequence_number: sent.length };
    response.write(
      isChat ? `data: ${JSON.stringify({ error })}\n\n` : `event: error\ndata: ${JSON.stringify(flat)}\n\n`,
    );
  }
  response.end();
}

async function write(
  response: ServerResponse,
  text: string,
  bytesPerWrite: number | undefined,
): Promise<void> {
  const bytes = Buffer.from(text);
  const size = bytesPerWrite ?? Math.max(1, bytes.length);
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    // Waits for each piece, so that it is sent as a separate packet.
    await new Promise((resolve) => response.write(bytes.subarray(at, at + size), resolve));
  }
}

async function readRequest(incoming: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  let body: Record<string, unknown> | undefined;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    body = undefined;
  }
  const path = (incoming.url ?? '').replace(/\?.*$/, '');
  return { method: incoming.method ?? '', path, headers: incoming.headers, body };
}

function sendJson(response: ServerResponse, value: object): void {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_fake' }).end(text);
}

function sendError(response: ServerResponse, error: FakeError): void {
  const {
    status,
    type = 'server_error',
    code = null,
    message = 'Something went wrong.',
    param = null,
  } = error;
  response
    .writeHead(status, { 'content-type': 'application/json', ...error.headers })
    .end(JSON.stringify({ error: { message, type, param, code } }));
}
