import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const moderation = { input: { results: [{ flagged: false }] } };
const members = { service_tier: 'flex', moderation, access_programs: { cyber: 'standard' }, user: null };
/** What the gateway says itself, whatever the provider does. */
const theirs = {
  conversation: { id: 'conv_theirs' },
  service: { cost: '1' },
  metadata: { theirs: 'x' },
  store: false,
};
const body = { model: 'openai/gpt-fake', input: 'Hi', metadata: { ours: 'x' } };

let fake: FakeOpenAi;
let daemon: RunningDaemon;
let client: OpenAI;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `upstreams: [{name: openai, base_url: "${fake.baseUrl}", models: [gpt-fake], key_env: OPENAI_KEY, wire: responses}]`,
    env: { OPENAI_KEY: 'sk-openai' },
  });
  client = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key });
  fake.always({ members: { ...members, ...theirs } });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

async function streamed(more: object = {}): Promise<OpenAI.Responses.Response> {
  const events = await client.responses.create({ ...body, ...more, stream: true });
  for await (const event of events) if (event.type === 'response.completed') return event.response;
  throw new Error('the response is not completed');
}

test.each<[string, () => Promise<OpenAI.Responses.Response>]>([
  ['whole', () => client.responses.create(body)],
  ['streamed', streamed],
  ['stored', async () => client.responses.retrieve((await client.responses.create(body)).id)],
  [
    'from the cache',
    async () => {
      const service = { cache: 'read-write' };
      await streamed({ service });
      return streamed({ service });
    },
  ],
])(
  'a response, %s, has what else its provider says, and none of what the gateway says itself',
  async (_how, ask) => {
    const response = (await ask()) as OpenAI.Responses.Response & { service: object };
    const { user: _null, ...said } = members;
    expect(response).toMatchObject({ ...said, metadata: body.metadata, store: true });
    expect(response).not.toHaveProperty('user');
    expect(response).not.toHaveProperty('conversation');
    expect(response.service).not.toMatchObject(theirs.service);
  },
);

test.each(['user', 'prompt_cache_retention', 'safety_identifier', 'prompt_cache_key'])(
  'a cached answer does not have the %s of another call',
  async (name) => {
    fake.script({ members: { [name]: 'alice' } });
    const ask = (sent: string) => streamed({ input: name, [name]: sent, service: { cache: 'read-write' } });
    await ask('alice');
    const calls = fake.requests.length;
    expect(JSON.stringify(await ask('bob'))).not.toContain('alice');
    expect(fake.requests.length).toBe(calls);
  },
);

test('callers of another format get none of it', async () => {
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const answer = await client.chat.completions.create({ model: body.model, messages });
  expect(answer).not.toHaveProperty('moderation');
});
