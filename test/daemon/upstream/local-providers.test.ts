import { expect, onTestFinished, test } from 'vitest';
import { traitsOf } from '../../../src/daemon/features/catalog/model-traits.ts';
import { parseEmbeddings } from '../../../src/daemon/features/inference/formats/embeddings.ts';
import { findLocalServers } from '../../../src/daemon/upstream/local-servers.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import { localProvider } from '../../../src/daemon/upstream/providers-from-config.ts';
import { startFakeOpenAi } from '../../support/fake-openai.ts';
import { fakeVector } from '../../support/fake-vector.ts';

const timeouts = {
  connectMs: 60_000,
  headersMs: 60_000,
  firstEventMs: 60_000,
  idleMs: 60_000,
  outputMs: 60_000,
  totalMs: 60_000,
  closingMs: 60_000,
};

test('a local server that was found embeds texts, in requests that every server accepts', async () => {
  const fake = await startFakeOpenAi({ models: ['nomic-embed-text:latest', 'llama3'] });
  const network = createNetwork();
  onTestFinished(async () => {
    await network.close();
    await fake.close();
  });
  const places = [{ name: 'ollama' as const, origin: new URL(fake.baseUrl).origin }];
  const [server] = await findLocalServers(network.send, { timeoutMs: 60_000, places });
  if (!server) throw new Error('the server was not found');
  const world = { send: network.send } as Parameters<typeof localProvider>[1]['world'];
  const { upstream } = localProvider(server, { world, timeouts, makeCallId: () => 'call_1' });
  fake.forget();
  const input = Array.from({ length: 200 }, (_, index) => `text ${index}`);
  const inference = parseEmbeddings({ model: 'ollama/nomic-embed-text:latest', input });
  const call = { inference, model: 'nomic-embed-text:latest', wire: undefined, key: undefined };
  const answer = await upstream.open({ ...call, outputTokensMax: undefined }, new AbortController().signal);
  if (answer.kind !== 'embeddings') throw new Error(`an answer of kind ${answer.kind}`);
  expect(answer.vectors.map((vector) => Array.from(vector))).toEqual(input.map((text) => fakeVector(text)));
  const sizes = fake.requests.map(({ body = {} }) => (body.input as string[]).length);
  expect(sizes.sort((a, b) => b - a)).toEqual([96, 96, 8]);
});

test.each([
  ['nomic-embed-text:latest', 'embedding'],
  ['mxbai-embed-large', 'embedding'],
  ['snowflake-arctic-embed2', 'embedding'],
  ['all-minilm:l6-v2', 'embedding'],
  ['bge-m3', 'embedding'],
  ['text-embedding-nomic-embed-text-v1.5', 'embedding'],
  ['Qwen3-Embedding-0.6B-Q8_0.gguf', 'embedding'],
  ['paraphrase-multilingual', 'embedding'],
  ['sentence-transformers/gtr-t5-large', 'embedding'],
  ['llama3.2', null],
  ['bge-reranker-v2-m3', null],
])('the kind of a local model is known by its name: %s', (name, kind) => {
  expect(traitsOf('', name).capabilities.kind).toBe(kind);
});
