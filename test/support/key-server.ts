import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a key gets instead of an answer. */
export interface Refusal {
  status: number;
  headers?: Record<string, string>;
  message?: string;
}

export interface KeyServer {
  baseUrl: string;
  /** The key of each model call, oldest first. */
  readonly keys: string[];
  /** Answers a key with a failure; undefined: as usual again. */
  refuse(key: string, refusal: Refusal | undefined): void;
  /** The only keys that are accepted; undefined: all. */
  accept(keys: readonly string[] | undefined): void;
  close(): Promise<void>;
}

/** A provider with OpenAI's chat format that tells apart the keys it is called with, in `Authorization` or `x-api-key`. */
export async function startKeyServer(): Promise<KeyServer> {
  const keys: string[] = [];
  const refusals = new Map<string, Refusal>();
  let accepted: readonly string[] | undefined;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { authorization = '', 'x-api-key': other = '' } = request.headers;
    const key = authorization.replace(/^Bearer /, '') || String(other);
    if (request.method === 'POST') keys.push(key);
    const refusal = refusals.get(key) ?? (accepted && !accepted.includes(key) ? { status: 401 } : undefined);
    if (refusal) return refuse(response, refusal);
    if (request.method === 'GET')
      return send(response, 200, { object: 'list', data: [{ id: 'm', object: 'model' }] });
    const { model } = JSON.parse(text) as { model: string };
    send(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    keys,
    refuse(key, refusal) {
      if (refusal) refusals.set(key, refusal);
      else refusals.delete(key);
    },
    accept(only) {
      accepted = only;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function refuse(
  response: ServerResponse,
  { status, headers = {}, message = 'Not with this key.' }: Refusal,
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  send(response, status, { error: { message, type: 'error', code: null } });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
