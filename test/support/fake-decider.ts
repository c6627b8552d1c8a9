import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

export interface DeciderRequest {
  path: string;
  authorization: string | undefined;
  body: Json;
}

/** What the fake answers: a status with a body, or undefined for 404. `hang` never answers. */
export type DeciderAnswer = { status?: number; json: unknown } | 'hang' | undefined;

export interface FakeDecider {
  /** `http://127.0.0.1:PORT`, without a version. */
  url: string;
  /** What it was asked, oldest first. */
  requests: DeciderRequest[];
  /** Replaces the behaviour. */
  answer: (request: DeciderRequest) => DeciderAnswer;
  close(): Promise<void>;
}

/** A server with chat completions and decision endpoints, over a real socket; by default it has none of them. */
export async function startFakeDecider(): Promise<FakeDecider> {
  const fake: FakeDecider = { url: '', requests: [], answer: () => undefined, close: async () => {} };
  const server = createServer(async (incoming, outgoing) => {
    const { authorization } = incoming.headers;
    const request = { path: incoming.url ?? '', authorization, body: await bodyOf(incoming) };
    fake.requests.push(request);
    const answer = fake.answer(request);
    if (answer === 'hang') return;
    const { status = 200, json } = answer ?? { status: 404, json: { error: { message: 'Not found' } } };
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fake.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return fake;
}

async function bodyOf(incoming: IncomingMessage): Promise<Json> {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text === '' ? {} : (JSON.parse(text) as Json);
}

/** A chat completion of the given text; `tokens` are the probabilities at each position, generated ones first. */
export function chatCompletion(text: string, tokens: readonly Record<string, number>[] = []): Json {
  const entries = (position: Record<string, number>) =>
    Object.entries(position).map(([token, probability]) => ({
      token,
      logprob: Math.log(probability),
      bytes: null,
    }));
  const content = tokens.map((position) => ({ ...entries(position)[0], top_logprobs: entries(position) }));
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_795_000_000,
    model: 'any',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: tokens.length > 0 ? { content, refusal: null } : null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 50, completion_tokens: 1, total_tokens: 51 },
  };
}

/** The options that a letter prompt shows, by letter. */
export function optionsShown({ body }: DeciderRequest): Map<string, string> {
  const messages = body.messages as { role: string; content: string }[];
  const user = messages.find(({ role }) => role === 'user')?.content ?? '';
  return new Map(
    [...user.matchAll(/^(?!Question)(\w+)[.:] (.+)$/gm)].map(([, letter = '', label = '']) => [
      letter,
      label,
    ]),
  );
}
