import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What servers take and refuse in a call for embeddings, and what they say then. */

interface Asked {
  model: string;
  input: string | string[];
  dimensions?: number;
}

const vector = [0.25, -0.5, 0.125, 1];
let fake: Server;
let daemon: RunningDaemon;
let refuse: (asked: Asked, inputs: number) => [status: number, body: object] | undefined;
let asked: { inputs: number; dimensions: number | undefined }[] = [];
let usage: object | undefined = { prompt_tokens: 3, total_tokens: 3 };

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    const body: Asked = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const inputs = [body.input].flat();
    asked.push({ inputs: inputs.length, dimensions: body.dimensions });
    const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: vector }));
    const [status, answer] = refuse(body, inputs.length) ?? [200, { object: 'list', data, usage }];
    reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const prices = { input: '1', output: '0' };
  daemon = await startDaemon({
    config: `upstreams: ${JSON.stringify([{ name: 'e', base_url, models: ['*'], prices }])}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

let models = 0;
const newModel = () => {
  models += 1;
  return `m${models}`;
};

interface Answer {
  data?: object[];
  error?: { code: string; message: string };
  usage?: { prompt_tokens: number; cost_usd: string };
}

/** `model` is a new one unless it is given, as what a model's server takes is remembered. */
async function embed(
  input: string | string[],
  refusal: typeof refuse,
  { model = newModel(), ...more }: { model?: string; dimensions?: number } = {},
) {
  asked = [];
  refuse = refusal;
  const response = await daemon.fetch('/v1/embeddings', { json: { model: `e/${model}`, input, ...more } });
  const { data = [], error, usage: used } = (await response.json()) as Answer;
  return {
    status: response.status,
    vectors: data.length,
    error,
    used,
    sizes: asked.map(({ inputs }) => inputs),
  };
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);
const openAi = (message: string, more: object = {}) => ({ error: { message, ...more } });

/** Each takes `most` inputs of a request with 40. */
test.each([
  [
    'RooCodeInc/Roo-Code#7702',
    10,
    400,
    openAi(
      '<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents',
    ),
  ],
  [
    'Zoo-Code-Org/Zoo-Code#335',
    32,
    422,
    { message: 'batch size 40 > maximum allowed batch size 32', code: 422, type: 'Validation' },
  ],
  [
    'apecloud/ApeRAG#716',
    16,
    413,
    { code: 20042, message: 'input batch size 40 > maximum allowed batch size 16', data: null },
  ],
  ['langchain-ai/langchain#10706', 16, 400, openAi('Too many inputs. The max number of inputs is 16.')],
  [
    'vercel/ai#16575',
    20,
    400,
    openAi('* BatchEmbedContentsRequest.requests: at most 20 requests can be in one batch'),
  ],
])('%s: at most %d texts', async (_cite, most, status, body) => {
  const refusal: typeof refuse = (_, inputs) => (inputs > most ? [status, body] : undefined);
  const model = `most${most}${status}`;
  const first = await embed(texts(40), refusal, { model });
  expect(first).toMatchObject({ status: 200, vectors: 40 });
  expect(first.sizes[0]).toBe(40);
  const later = await embed(texts(40), refusal, { model });
  expect(later).toMatchObject({ status: 200, vectors: 40 });
  expect(Math.max(...later.sizes)).toBe(most);
  expect(later.used?.prompt_tokens).toBe(3 * later.sizes.length);
});

test.each([
  [
    'sigoden/aichat#825',
    400,
    {
      detail:
        "Request to model 'v' failed. The max allowed tokens per submitted batch is 120000. Your batch has 121138 tokens after truncation. Please lower the number of tokens in the batch.",
    },
  ],
  [
    'vercel-labs/lat.md#74',
    400,
    openAi('Requested 375703 tokens, max 300000 tokens per request', {
      type: 'max_tokens_per_request',
      code: 'max_tokens_per_request',
    }),
  ],
  [
    'aurelio-labs/semantic-router#297',
    400,
    {
      object: 'error',
      message: 'Too many tokens in batch. Max is 16384 got 17555',
      type: 'invalid_request_error',
    },
  ],
  [
    'nlweb-ai/NLWeb#164',
    413,
    openAi('Request body too large for text-embedding-3-small - Max size: 64000 tokens', {
      code: 'tokens_limit_reached',
    }),
  ],
])('%s: too many tokens together', async (_cite, status, body) => {
  const refusal: typeof refuse = (_, inputs) => (inputs > 12 ? [status, body] : undefined);
  const { sizes, ...answer } = await embed(texts(40), refusal);
  expect(answer).toMatchObject({ status: 200, vectors: 40 });
  expect(sizes[0]).toBe(40);
  expect(sizes.slice(-4)).toEqual([10, 10, 10, 10]);
});

test('one text that a server refuses as too large is not asked for again', async () => {
  const body = { object: 'error', message: 'Too many tokens in batch. Max is 16384 got 17555' };
  const { status, sizes, error } = await embed('text', () => [400, body]);
  expect({ status, sizes, code: error?.code }).toEqual({
    status: 400,
    sizes: [1],
    code: 'context_length_exceeded',
  });
});

test.each([
  [
    'lemonade-sdk/lemonade#3591',
    500,
    openAi(
      'input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
    ),
  ],
  [
    'gpustack/gpustack#1357',
    500,
    openAi('input prompt is too big compared to KV size, please increase KV size'),
  ],
  [
    'huggingface/text-embeddings-inference#356',
    413,
    {
      error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 534',
      error_type: 'Validation',
    },
  ],
  ['vcmf/dim0#143', 400, openAi("Invalid 'input[0]': maximum input length is 8192 tokens.")],
])('%s: a text that is too long is the fault of the call, not of the server', async (_cite, status, body) => {
  const model = `long${status}`;
  const refused = await embed('text', () => [status, body], { model });
  expect(refused).toMatchObject({ status: 400, error: { code: 'context_length_exceeded' } });
  const next = await embed('text', () => undefined, { model });
  expect(next.status).toBe(200);
});

const noLengths = openAi(
  'Model "m" does not support matryoshka representation, changing output dimensions will lead to poor results.',
);

test.each([
  [vector.length, 200],
  [2, 400],
])('ogx-ai/ogx#5109: a server that refuses lengths is asked without %d', async (dimensions, status) => {
  const refusal: typeof refuse = (body) => (body.dimensions === undefined ? undefined : [400, noLengths]);
  const answer = await embed('text', refusal, { dimensions });
  expect(answer.status).toBe(status);
  expect(asked.map((each) => each.dimensions)).toEqual([dimensions, undefined]);
  if (status === 400) expect(answer.error?.message).toContain('matryoshka');
});

test.each([[{ prompt_tokens: 0, total_tokens: 0 }], [undefined]])(
  'lmstudio-ai/lmstudio-bug-tracker#1546: with %j, tokens are estimated, and cost',
  async (counted) => {
    const before = usage;
    usage = counted;
    const { used } = await embed('some words to embed', () => undefined);
    usage = before;
    expect(used?.prompt_tokens).toBeGreaterThan(0);
    expect(Number(used?.cost_usd)).toBeGreaterThan(0);
  },
);
