import { describe, expect, test } from 'vitest';
import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseMessagesCall } from '../../src/daemon/features/inference/formats/messages/parse.ts';
import type { Inference } from '../../src/daemon/features/upstreams/neutral.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { CreateChatCompletionBody } from '../../src/shared/contract/chat-completions.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';

/** Members of requests as clients send them, and as providers accept them. */

type Json = Record<string, unknown>;

const openai = { name: 'openai', baseUrl: 'https://api.openai.com/v1' };
const other = { name: 'mine', baseUrl: 'https://llm.acme.example/v1' };
const nothing = () => undefined;
const chat = (body: Json) => parseChat({ model: 'm', messages: [user], ...body } as never, nothing);
const messages = (body: Json) =>
  parseMessagesCall({ model: 'm', max_tokens: 9, messages: [user], ...body } as never, {}, nothing);
const user = { role: 'user', content: 'Go.' };

type Adapter = ReturnType<typeof chatAdapter>;
const sent = (adapter: Adapter, inference: Inference): Json =>
  JSON.parse(adapter.request(callOf(inference)).body);

/** LiteLLM writes signatures into ids, others the names of servers and tools. */
const ids = {
  short: 'call_1',
  'langgenius/dify#28987': `call_${'a'.repeat(40)}`,
  'decolua/9router#393': `codex_mcp__server__tool_exec-${'b'.repeat(50)}`,
  'BerriAI/litellm#41590': `call_1__thought__${'c'.repeat(900)}`,
};

describe.each(Object.entries(ids))('the id of a call: %s', (_, id) => {
  const call = { id, type: 'function', function: { name: 'f', arguments: '{}' } };
  const twin = { ...call, id: `${id}x` };
  const outputs = [id, twin.id].map((each) => ({ role: 'tool', tool_call_id: each, content: 'done' }));
  const called = { role: 'assistant', content: null, tool_calls: [call, twin] };
  const fromChat = chat({ messages: [user, called, ...outputs] });
  const fromMessages = messages({
    messages: [
      user,
      {
        role: 'assistant',
        content: [id, twin.id].map((each) => ({ type: 'tool_use', id: each, name: 'f', input: {} })),
      },
      {
        role: 'user',
        content: [id, twin.id].map((each) => ({ type: 'tool_result', tool_use_id: each, content: 'done' })),
      },
    ],
  });

  test.each([
    ['chat', fromChat],
    ['messages', fromMessages],
  ])('from the format %s is within the limit, and that of its output', (_format, inference) => {
    const body = sent(chatAdapter(openai), inference);
    const [, made, ...results] = body.messages as { tool_calls: Json[]; tool_call_id: string }[];
    const made_ids = made?.tool_calls.map((each) => String(each.id)) ?? [];
    expect(results.map((result) => result.tool_call_id)).toEqual(made_ids);
    expect(new Set(made_ids).size).toBe(2);
    for (const each of made_ids) expect(each.length).toBeLessThanOrEqual(40);
    if (id.length < 40) expect(made_ids[0]).toBe(id);

    const { input } = sent(responsesAdapter(openai), inference) as { input: Json[] };
    const callIds = input.flatMap((item) => (item.call_id ? [String(item.call_id)] : []));
    expect(callIds.slice(2)).toEqual(callIds.slice(0, 2));
    for (const each of callIds) expect(each.length).toBeLessThanOrEqual(64);
    if (id.length < 64) expect(callIds[0]).toBe(id);
  });

  test('is as it is for other gateways, which read it', () => {
    expect(JSON.stringify(sent(chatAdapter(other), fromChat))).toContain(`"${id}"`);
  });
});

// mealie-recipes/mealie#5897, NousResearch/hermes-agent#55432, ogkalu2/comic-translate#399
describe('image/jpg is image/jpeg', () => {
  const url = 'data:image/jpg;base64,/9j/4AAQ';
  const fromChat = chat({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpg', data: '/9j/4AAQ' } };
  const use = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const fromMessages = messages({
    messages: [
      { role: 'user', content: [image] },
      { role: 'assistant', content: [use] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [image] }] },
    ],
  });
  const adapters = {
    chat: chatAdapter(openai),
    responses: responsesAdapter(openai),
    anthropic: anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' }),
    google: googleAdapter({ name: 'google', baseUrl: 'https://g.example' }),
  };
  test.each(Object.entries(adapters))('for %s', (_, adapter) => {
    for (const inference of [fromChat, fromMessages]) {
      const body = JSON.stringify(sent(adapter as Adapter, inference));
      expect(body).not.toContain('image/jpg');
      expect(body).toContain('image/jpeg');
    }
  });
});

// anthropics/claude-code#68900, musistudio/claude-code-router#1372, sgl-project/sglang#21064
describe('the billing line of Claude Code', () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1.177.01c; cc_entrypoint=cli; cch=36ee5;';
  const prompt = { type: 'text', text: 'You are Claude Code.', cache_control: { type: 'ephemeral' } };
  const systems = [[{ type: 'text', text: line }, prompt], `${line}\nYou are Claude Code.`];
  const others = {
    chat: chatAdapter(other),
    responses: responsesAdapter(openai),
    google: googleAdapter({ name: 'google', baseUrl: 'https://g.example' }),
    'the Messages format elsewhere': anthropicAdapter(other),
  };

  test.each(Object.entries(others))('is left out for %s', (_, adapter) => {
    for (const system of systems) {
      const body = JSON.stringify(sent(adapter as Adapter, messages({ system })));
      expect(body).not.toContain('billing-header');
      expect(body).toContain('You are Claude Code.');
    }
    const body = sent(adapter as Adapter, messages({ system: [{ type: 'text', text: line }] }));
    expect(body.system ?? body.instructions).toBeUndefined();
  });

  test('reaches Anthropic', () => {
    const { request } = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
    for (const system of systems)
      expect(JSON.parse(request(callOf(messages({ system }))).body).system).toEqual(system);
  });

  test('is one at the start only', () => {
    const system = `Explain this: ${line}`;
    expect(JSON.stringify(sent(chatAdapter(other), messages({ system })))).toContain(line);
  });
});

describe('members without a value', () => {
  test('are not sent on', () => {
    const nulls = { name: null, tool_calls: null, tool_call_id: null };
    const body = sent(
      chatAdapter(openai),
      chat({
        stop: [],
        functions: [],
        messages: [
          { ...user, ...nulls },
          { role: 'assistant', content: 'a', ...nulls },
        ],
      }),
    );
    expect(body.messages).toEqual([user, { role: 'assistant', content: 'a' }]);
    expect(body).not.toHaveProperty('stop');
    expect(body).not.toHaveProperty('functions');
  });

  test('are valid in requests', async () => {
    const { Value } = await import('typebox/value');
    const schema = CreateChatCompletionBody as never;
    const body = { model: 'm', messages: [{ ...user, tool_call_id: null }], stop: [], functions: [] };
    expect([...Value.Errors(schema, body)]).toEqual([]);
  });
});
