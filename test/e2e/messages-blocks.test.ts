import { describe, expect, test } from 'vitest';
import { checkMessage, checkMessageStream } from '../support/messages-check.ts';
import { backendNames, backendsForThisFile } from '../support/model-backends.ts';

/** Blocks of the Messages format that other formats do not have. */

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();
const { daemon } = backends;
const others = ['openai', 'chat-only', 'google'] as const;

async function ask(backend: (typeof others)[number], json: Json) {
  const model = backends.script(backend, { text: 'Hi.' });
  const answer = await daemon.fetch('/v1/messages', { json: { model, max_tokens: 512, ...json } });
  const body = (await answer.json()) as Json;
  const sent = JSON.stringify(backends.lastBody(backend));
  return { status: answer.status, body, dropped: answer.headers.get('x-service-dropped'), sent };
}

const question = { role: 'user', content: 'Weather?' };
const call = (name: string, input: Json = {}) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'call_1', name, input }],
});
const result = (content: unknown) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'call_1', content }],
});

describe.each(others)('%s', (backend) => {
  test('is told which deferred tools a search has found', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [
      { name: 'ToolSearch', input_schema: { type: 'object', properties: { query: { type: 'string' } } } },
      { name: 'mcp__weather__lookup', input_schema: schema, defer_loading: true },
    ];
    const found = [{ type: 'tool_reference', tool_name: 'mcp__weather__lookup' }];
    const messages = [question, call('ToolSearch', { query: 'weather' }), result(found)];
    const { status, dropped, sent } = await ask(backend, { tools, messages });
    expect([status, dropped]).toEqual([200, null]);
    expect(sent).toContain('The tool mcp__weather__lookup is available now.');
    expect(sent).not.toContain('tool_reference');
    expect(sent).not.toContain('defer_loading');
  });

  test('gets no blocks of tools that Anthropic runs', async () => {
    const content = [
      { type: 'text', text: 'I searched.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rain' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    ];
    const messages = [question, { role: 'assistant', content }, question];
    const { status, dropped, sent } = await ask(backend, { messages });
    expect([status, dropped]).toEqual([200, 'messages[1].content[1], messages[1].content[2]']);
    expect(sent).toContain('I searched.');
    expect(sent).not.toMatch(/server_tool_use|web_search|srvtoolu/);
  });

  test('gets a document of texts and images in its parts', async () => {
    const image = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const content = [
      { type: 'text', text: 'First.' },
      { type: 'text', text: 'Second.' },
      { type: 'image', source: image },
    ];
    const document = { type: 'document', title: 'Report', source: { type: 'content', content } };
    const { status, sent } = await ask(backend, { messages: [{ role: 'user', content: [document] }] });
    expect(status).toBe(200);
    expect(sent).toContain('Report\\n\\nFirst.\\n\\nSecond.');
    expect(sent).toContain('iVBORw0KGgo=');
  });
});

test('Anthropic gets all of them as they are', async () => {
  const found = [{ type: 'tool_reference', tool_name: 'lookup' }];
  const tools = [
    { name: 'search', input_schema: { type: 'object' } },
    { name: 'lookup', input_schema: { type: 'object' }, defer_loading: true },
  ];
  const messages = [question, call('search'), result(found)];
  const model = backends.script('anthropic', { text: 'Hi.' });
  const answer = await daemon.fetch('/v1/messages', { json: { model, max_tokens: 512, tools, messages } });
  expect(answer.status).toBe(200);
  expect(backends.lastBody('anthropic')).toMatchObject({ tools, messages });
});

describe('a call for no answer, which fills the prompt cache,', () => {
  const json = { max_tokens: 0, messages: [question] };

  test.each(backendNames.filter((name) => name !== 'anthropic'))(
    'asks nothing of %s, and costs nothing',
    async (backend) => {
      const model = backends.script(backend, { text: 'Never asked for.' });
      for (const stream of [false, true]) {
        const answer = await daemon.fetch('/v1/messages', { json: { ...json, model, stream } });
        const text = await answer.text();
        expect(answer.status).toBe(200);
        expect(text).toContain('"stop_reason":"max_tokens"');
        expect(text).not.toContain('content_block');
        if (!stream) expect(checkMessage(JSON.parse(text)).content).toEqual([]);
        else checkMessageStream([text]);
        const usage = await daemon.fetch(`/v1/usage/${answer.headers.get('request-id')}`);
        expect(await usage.json()).toMatchObject({
          charged_usd: '0',
          tokens: { input: 0, output: 0 },
          attempts: [],
        });
      }
      if (backend !== 'simulator') expect(backends.bodiesOf(backend)).toEqual([]);
    },
  );

  test('reaches Anthropic as it is', async () => {
    const model = backends.script('anthropic', { text: '' });
    const answer = await daemon.fetch('/v1/messages', { json: { ...json, model } });
    expect(answer.status).toBe(200);
    expect(backends.lastBody('anthropic')).toMatchObject(json);
  });

  test('goes to a provider that can fill one', async () => {
    const other = backends.script('openai', { text: 'Never asked for.' });
    const service = { fallbacks: [backends.script('anthropic', { text: '' })] };
    const answer = await daemon.fetch('/v1/messages', { json: { ...json, model: other, service } });
    expect(answer.headers.get('x-service-upstream')).toBe('anthropic');
  });
});
