import { describe, expect, test } from 'vitest';
import { sealedPrefix } from '../support/fake-openai-responses.ts';
import { backendsForThisFile, type ProviderName } from '../support/model-backends.ts';
import { openSocket } from '../support/socket-client.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();
const { daemon } = backends;

async function post(path: string, json: Json) {
  const answer = await daemon.fetch(path, { json });
  const body = (await answer.json()) as Json & { id: string; error: Json; service: Json };
  return { status: answer.status, dropped: answer.headers.get('x-service-dropped'), body };
}

const respond = (json: Json) => post('/v1/responses', { input: 'Hello.', ...json });
const chat = (json: Json) =>
  post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello.' }], ...json });

const encrypted = {
  type: 'reasoning',
  id: 'rs_theirs',
  summary: [],
  encrypted_content: `${sealedPrefix}dGhlaXJz`,
};
const message = { type: 'message', role: 'user', content: 'Hello.' };
const upload = (part: Json) => [{ role: 'user', content: [part] }];

/** A text of the input that the provider must get. */
const sentMark = ({ input }: Json) =>
  /file-1|dGhlaXJz|local_shell_call|critic/.exec(JSON.stringify(input) ?? '')?.[0] ?? '[';

const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };

const refusedElsewhere: [string, Json, string][] = [
  ['a stored prompt', { prompt: { id: 'pmpt_1' }, input: undefined }, 'prompt'],
  ['encrypted reasoning', { input: [encrypted, message] }, 'input[0].encrypted_content'],
  [
    'an uploaded file',
    { input: upload({ type: 'input_file', file_id: 'file-1' }) },
    'input[0].content[0].file_id',
  ],
  [
    'an uploaded image',
    { input: upload({ type: 'input_image', file_id: 'file-1' }) },
    'input[0].content[0].file_id',
  ],
  ['a new role', { input: [message, { role: 'critic', content: 'No.' }] }, 'input[1].role'],
  ['a new kind of part', { input: upload({ type: 'hologram', id: 'file-1' }) }, 'input[0].content[0].type'],
  ['a new form of answers', { text: { format: { type: 'grammar', grammar: 'a' } } }, 'text.format.type'],
  ['a new choice of tools', { tools: [weather], tool_choice: 'sometimes' }, 'tool_choice'],
  ['an unknown item', { input: [message, { type: 'computer_call', call_id: 'c' }] }, 'input[1].type'],
  [
    'a forced search',
    { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
    'tool_choice',
  ],
];

describe.each(refusedElsewhere)('%s', (_what, body, param) => {
  test.each(['anthropic', 'google', 'chat-only'] as const)(
    'is refused for %s, at no cost',
    async (backend) => {
      const model = backends.script(backend, { text: 'Never asked.' });
      const { status, body: answer } = await respond({ model, ...body });
      expect([status, answer.error.param]).toEqual([400, param]);
      expect(answer.error.message).toMatch(/Remove|Leave|Send|send/);
      expect(backends.bodiesOf(backend)).toEqual([]);
    },
  );

  test('reaches OpenAI', async () => {
    const model = backends.script('openai', { text: 'Hi.' });
    const { status, dropped } = await respond({ model, ...body });
    expect([status, dropped]).toEqual([200, null]);
    // As sent, where the members are not rewritten.
    const { input: _input, ...members } = body;
    expect(backends.lastBody('openai')).toMatchObject(members);
    expect(JSON.stringify(backends.lastBody('openai').input)).toContain(sentMark(body));
  });
});

test('reasoning that another workspace sealed is refused everywhere', async () => {
  const item = { ...encrypted, encrypted_content: 'gws1.AAAA' };
  const { status, body } = await respond({ model: 'openai/gpt-5-mini', input: [item, message] });
  expect([status, body.error.param]).toEqual([400, 'input[0].encrypted_content']);
});

test('reasoning encrypted by OpenAI does not keep a conversation from being compacted', async () => {
  const model = backends.script('anthropic', { text: 'They greeted.' });
  const { status } = await post('/v1/responses/compact', { model, input: [message, encrypted, message] });
  expect(status).toBe(200);
});

const refusedInChat: [string, Json, string][] = [
  ['a web search', { web_search_options: {} }, 'web_search_options'],
  ['sound', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
  [
    'an uploaded file',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
    'messages[0].content[0].file.file_id',
  ],
  [
    'a new role',
    {
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'critic', content: 'No.' },
      ],
    },
    'messages[1].role',
  ],
  [
    'a new kind of part',
    { messages: [{ role: 'user', content: [{ type: 'hologram', id: 1 }] }] },
    'messages[0].content[0].type',
  ],
  ['a new form of answers', { response_format: { type: 'grammar', grammar: 'a' } }, 'response_format.type'],
  [
    'a new choice of tools',
    { tools: [{ type: 'function', function: { name: 'weather' } }], tool_choice: 'sometimes' },
    'tool_choice',
  ],
];

describe.each(refusedInChat)('a chat call with %s', (_what, body, param) => {
  test.each(['anthropic', 'google', 'responses-only'] as const)('is refused for %s', async (backend) => {
    const model = backends.script(backend, { text: 'Never asked.' });
    const { status, body: answer } = await chat({ model, ...body });
    expect([status, answer.error.param]).toEqual([400, param]);
  });

  test('reaches OpenAI', async () => {
    const model = backends.script('openai', { text: 'Hi.' });
    expect((await chat({ model, ...body })).status).toBe(200);
    expect(backends.lastBody('openai')).toMatchObject(body);
  });
});

describe('what is left out', () => {
  const everything = {
    presence_penalty: 0.5,
    service_tier: 'flex',
    text: { verbosity: 'low' },
    tools: [{ type: 'web_search' }, { type: 'image_generation' }],
    user: 'ada',
  };

  test('is in the header, the answer and the last event of a stream', async () => {
    const model = backends.script('anthropic', { text: 'Hi.' }, { text: 'Hi.' });
    const { status, dropped, body } = await respond({ model, ...everything });
    expect(status).toBe(200);
    const params = ['presence_penalty', 'service_tier', 'text.verbosity', 'tools[0]', 'tools[1]'];
    expect(dropped?.split(', ').sort()).toEqual(params);
    expect((body.service.dropped as Json[]).map(({ param }) => param).sort()).toEqual(params);
    const answer = await daemon.fetch('/v1/responses', {
      json: { model, input: 'Hello.', stream: true, ...everything },
    });
    expect(answer.headers.get('x-service-dropped')).toBe(dropped);
    const last = /^data: (\{"type":"response.completed".*)$/m.exec(await answer.text())?.[1] ?? '{}';
    expect(JSON.parse(last).response.service.dropped).toEqual(body.service.dropped);
  });

  test.each(['anthropic', 'google', 'chat-only'] as const)(
    'includes a required call of %s where no tool is left',
    async (backend) => {
      const tools = [{ type: 'web_search' }];
      const model = backends.script(backend, { text: 'Hi.' });
      const { status, dropped } = await respond({ model, tools, tool_choice: 'required' });
      expect([status, dropped?.split(', ').sort()]).toEqual([200, ['tool_choice', 'tools[0]']]);
    },
  );

  test('is reported on sockets, and for cached answers too', async () => {
    const model = backends.script('anthropic', { text: 'Hi.' }, { text: 'Hi.' });
    const client = await openSocket(`${daemon.url}/v1/responses`, { key: daemon.key });
    const events = await client.ask({ type: 'response.create', model, input: 'Hello.', ...everything });
    expect(events.at(-1).response.service.dropped).toHaveLength(5);
    const cached = { model, ...everything, service: { cache: 'read-write' } };
    const first = await respond(cached);
    const second = await respond(cached);
    expect(second.body.service.provider).toBe('cache');
    expect(second.dropped).toBe(first.dropped);
    expect(second.body.service.dropped).toEqual(first.body.service.dropped);
  });

  test('cannot break the header', async () => {
    const model = backends.script('anthropic', { text: 'Hi.' });
    const { status, dropped } = await respond({ model, 'a\r\nset-cookie: x\u2028é': 1 });
    expect([status, dropped]).toEqual([200, 'a%0D%0Aset-cookie: x%E2%80%A8%C3%A9']);
  });
});

describe('truncation: "auto"', () => {
  const ask = (backend: ProviderName, input: string) =>
    respond({ model: backends.script(backend, { text: 'Hi.' }), truncation: 'auto', input });

  test('is harmless where the input certainly fits', async () => {
    expect((await ask('anthropic', 'Hello.')).status).toBe(200);
  });

  test('is refused where the input may have to be truncated', async () => {
    const { status, body } = await ask('anthropic', 'a'.repeat(3_000_000));
    expect([status, body.error.param]).toEqual([400, 'truncation']);
  });

  test('is left to a provider that truncates', async () => {
    expect((await ask('openai', 'a'.repeat(3_000_000))).status).toBe(200);
    expect(backends.lastBody('openai').truncation).toBe('auto');
  });
});

test('an uploaded file needs a single provider', async () => {
  const input = upload({ type: 'input_file', file_id: 'file-1' });
  backends.script('openai', { text: 'Hi.' });
  const service = { fallbacks: ['responses-only/gpt-5-fake'] };
  const { status, body } = await respond({ model: 'openai/gpt-5-mini', input, service });
  expect([status, body.error.param]).toEqual([400, 'input[0].content[0].file_id']);
  expect(body.error.message).toContain('openai/');
  const pinned = { ...service, route: { only: ['openai'] } };
  expect((await respond({ model: 'openai/gpt-5-mini', input, service: pinned })).status).toBe(200);
});
