import { expect, onTestFinished, test } from 'vitest';
import { listModels } from '../../src/daemon/upstream/list-models.ts';
import { findLocalServers, localServerPlaces } from '../../src/daemon/upstream/local-servers.ts';
import { createNetwork } from '../../src/daemon/upstream/network.ts';
import { anthropic } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { openAi } from '../../src/daemon/upstream/providers/openai.ts';
import { startRawServer, wholeAnswer } from '../support/raw-server.ts';

/** What servers list of their models, and the context that clients have to find there. */
const cases: { cite: string; entry: object; contextLength: number | undefined }[] = [
  { cite: 'openai', entry: { id: 'gpt-5', object: 'model', owned_by: 'openai' }, contextLength: undefined },
  {
    cite: 'NousResearch/hermes-agent#2091',
    entry: { id: 'm', max_model_len: 131_072 },
    contextLength: 131_072,
  },
  {
    cite: 'NousResearch/hermes-agent#93412',
    entry: { id: 'm', context_size: 1_048_576, max_input_tokens: 1_048_576, max_tokens: 393_216 },
    contextLength: 1_048_576,
  },
  { cite: 'NousResearch/hermes-agent#93473', entry: { id: 'm', max_tokens: 4096 }, contextLength: undefined },
  {
    cite: 'NousResearch/hermes-agent#81442',
    entry: { id: 'm', max_context: 524_288 },
    contextLength: 524_288,
  },
  {
    cite: 'NousResearch/hermes-agent#78212',
    entry: { id: 'm.gguf', meta: { n_ctx: 32_768, n_ctx_train: 262_144 } },
    contextLength: 32_768,
  },
  {
    cite: '1ay1/agentty#49',
    entry: { id: 'm', meta: { n_ctx: 8192, n_ctx_train: 40_960 } },
    contextLength: 8192,
  },
  {
    cite: 'iii-hq/workers#550',
    entry: { id: 'm', context_length: 128_000, max_context_length: 4096 },
    contextLength: 128_000,
  },
  {
    cite: 'can1357/oh-my-pi#4190',
    entry: {
      id: 'm',
      status: { value: 'unloaded', args: ['llama-server', '--ctx-size', '65536', '-m', 'x'] },
    },
    contextLength: 65_536,
  },
  {
    cite: 'gsanhueza/pi-llama-cpp#19',
    entry: { id: 'm', status: { value: 'unloaded', args: ['llama-server', '-m', 'x'] } },
    contextLength: undefined,
  },
  { cite: 'simonw/llm-mistral#23', entry: { id: 'm', max_context_length: 32_768 }, contextLength: 32_768 },
  { cite: 'docker/model-runner#721', entry: { id: 'm', context_window: 40_960 }, contextLength: 40_960 },
  { cite: 'microsoft/amplifier#354', entry: { id: 'm', max_input_tokens: 262_144 }, contextLength: 262_144 },
  {
    cite: 'Yeachan-Heo/gajae-code#4559',
    entry: { id: 'm', max_model_len: null, max_position_embeddings: 262_144 },
    contextLength: 262_144,
  },
  { cite: 'Yeachan-Heo/gajae-code#4559', entry: { id: 'm', context_length: -1 }, contextLength: undefined },
  { cite: 'ml-explore/mlx-lm#1184', entry: { id: 'm', context_length: '32768' }, contextLength: 32_768 },
  {
    cite: 'yuhp/opencode-models-discovery#53',
    entry: { id: 'm', context_length: 1_000_000, max_output_tokens: 128_000 },
    contextLength: 1_000_000,
  },
  {
    cite: 'huggingface/hub-docs#2469',
    entry: { id: 'm', providers: [{ provider: 'a' }, { provider: 'b', context_length: 1_048_576 }] },
    contextLength: 1_048_576,
  },
];

function network() {
  const made = createNetwork();
  onTestFinished(() => made.close());
  return made;
}

const answering = async (body: object | ((path: string) => object)) => {
  const { url } = await startRawServer((socket, request) => {
    const path = /^GET (\S+)/.exec(request)?.[1] ?? '';
    socket.write(wholeAnswer(JSON.stringify(typeof body === 'function' ? body(path) : body)));
  });
  return url;
};

const listedBy = async (body: object, api: typeof openAi = openAi) => {
  const baseUrl = `${await answering(body)}/v1`;
  return await listModels(network().send, { name: 'acme', api, baseUrl, key: undefined });
};

test.each(cases)('the context of a model as $cite lists it', async ({ entry, contextLength }) => {
  expect((await listedBy({ object: 'list', data: [entry] }))[0]?.contextLength).toBe(contextLength);
});

test('the context of a model in the list of a server with the Messages format', async () => {
  const model = { type: 'model', id: 'claude', display_name: 'Claude', max_input_tokens: 200_000 };
  expect((await listedBy({ data: [model] }, anthropic))[0]).toMatchObject({ contextLength: 200_000 });
});

/** vllm-project/router#134, abdulmominsakib/localmind#11 */
test('a list by another name, and names by another one', async () => {
  const names = async (body: object) => (await listedBy(body)).map(({ name }) => name);
  expect(await names({ models: [{ id: 'a' }] })).toEqual(['a']);
  expect(await names({ models: [{ name: 'b', model: 'b' }] })).toEqual(['b']);
});

/** cogwheel0/conduit#84, togethercomputer/openapi#31 */
test('models that generate neither text nor embeddings are not listed', async () => {
  const types = ['chat', 'audio.transcriptions', 'image', 'embeddings', 'rerank', 'language', 'moderation'];
  const listed = await listedBy({ data: types.map((type) => ({ id: type, type })) });
  expect(listed.map(({ name, kind }) => [name, kind])).toEqual([
    ['chat', undefined],
    ['embeddings', 'embedding'],
    ['language', undefined],
  ]);
});

async function localModels(name: 'lmstudio' | 'ollama', body: (path: string) => object) {
  const places = [{ name, origin: await answering(body) }];
  const [server] = await findLocalServers(network().send, { timeoutMs: 60_000, places });
  return server?.models.map((model) => [model.name, model.contextLength, model.kind]);
}

/** co-l/openfox#49, zed-industries/zed#25606, lmstudio-ai/lmstudio-bug-tracker#2139 */
test('models of LM Studio have the context with which they are loaded', async () => {
  const ids = ['gemma', 'nomic', 'later'];
  const models = await localModels('lmstudio', (path) => ({
    data:
      path === '/api/v0/models'
        ? [
            {
              id: 'gemma',
              type: 'vlm',
              state: 'loaded',
              max_context_length: 262_144,
              loaded_context_length: 122_880,
            },
            { id: 'nomic', type: 'embeddings', state: 'not-loaded', max_context_length: 2048 },
          ]
        : ids.map((id) => ({ id, object: 'model', owned_by: 'organization_owner' })),
  }));
  expect(models).toEqual([
    ['gemma', 122_880, undefined],
    ['nomic', 2048, 'embedding'],
    ['later', undefined, undefined],
  ]);
});

/** 1ay1/agentty#49, springfall2008/batpred#4859 */
test('models of Ollama have the context with which they are loaded', async () => {
  const models = await localModels('ollama', (path) =>
    path === '/api/ps'
      ? { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', context_length: 4096 }] }
      : { data: ['qwen3:8b', 'llama3'].map((id) => ({ id, object: 'model', owned_by: 'library' })) },
  );
  expect(models).toEqual([
    ['qwen3:8b', 4096, undefined],
    ['llama3', undefined, undefined],
  ]);
});

test('a local server without further lists is found all the same', async () => {
  const models = await localModels('ollama', (path) =>
    path === '/api/ps' ? { error: 'not found' } : { data: [{ id: 'llama3', owned_by: 'library' }] },
  );
  expect(models).toEqual([['llama3', undefined, undefined]]);
});

/** ankit373/hydra#282, AlexsJones/llmfit#516, SamSaffron/term-llm#446, gizmax/Sandcastle#279 */
test.each([
  [undefined, 'http://127.0.0.1:11434'],
  ['', 'http://127.0.0.1:11434'],
  ['http://127.0.0.1:11500', 'http://127.0.0.1:11500'],
  ['127.0.0.1:11500/', 'http://127.0.0.1:11500'],
  [':11500', 'http://127.0.0.1:11500'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['http://0.0.0.0:11500', 'http://127.0.0.1:11500'],
  ['[::]:11500', 'http://127.0.0.1:11500'],
  ['::1', 'http://[::1]:11434'],
  ['[::1]:11500', 'http://[::1]:11500'],
  ['host.docker.internal', 'http://host.docker.internal:11434'],
  ['"box.local:11500"', 'http://box.local:11500'],
  ['https://box.example', 'https://box.example'],
  ['https://box.example/ollama/', 'https://box.example/ollama'],
  ['https://ollama.com', 'http://127.0.0.1:11434'],
  ['box.local:port', 'http://127.0.0.1:11434'],
])('Ollama with OLLAMA_HOST=%s is at %s', (written, origin) => {
  expect(localServerPlaces(written)).toContainEqual({ name: 'ollama', origin });
});
