import { describe, expect, test } from 'vitest';
import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';

type Json = Record<string, unknown>;

const cache_control = { type: 'ephemeral' };
const hour = { type: 'ephemeral', ttl: '1h' };
const text = (value: string, more: Json = {}) => ({ type: 'text', text: value, ...more });
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
const claude = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });

function sentTo(adapter: typeof claude, body: Json, model = 'claude-sonnet-4-5'): Json {
  const inference = parseChat({ model: 'm', ...body } as never, () => undefined);
  return JSON.parse(adapter.request(callOf(inference, { model })).body);
}

/** The paths of the marks in a body, with their lifetime. */
function marksIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const at = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    return name === 'cache_control' ? [`${path} ${(each as Json).ttl ?? '5m'}`.trim()] : marksIn(each, at);
  });
}

const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];

describe('the marks of chat clients reach Claude', () => {
  test.each<[string, Json, string[]]>([
    [
      'coder/coder#29563: opencode marks messages',
      {
        messages: [
          { role: 'system', content: 'a', cache_control },
          { role: 'user', content: 'b', cache_control },
        ],
      },
      ['system[0] 5m', 'messages[0].content[0] 5m'],
    ],
    [
      'cline/cline#14332: parts, the last of which are new',
      {
        messages: [
          { role: 'system', content: [text('a', { cache_control: hour }), text('now')] },
          { role: 'user', content: [text('b', { cache_control }), text('c')] },
        ],
      },
      ['system[0] 1h', 'messages[0].content[0] 5m'],
    ],
    [
      'Vivswan/litellm-vscode-chat#125: tools',
      { messages: [{ role: 'user', content: 'a' }], tools: [tool, { ...tool, cache_control }] },
      ['tools[1] 5m'],
    ],
    [
      'BerriAI/litellm#9949: the function of a tool',
      {
        messages: [{ role: 'user', content: 'a' }],
        tools: [{ ...tool, function: { ...tool.function, cache_control } }],
      },
      ['tools[0] 5m'],
    ],
    [
      'calls and their outputs',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b', tool_calls: calls, cache_control },
          { role: 'tool', tool_call_id: 'c', content: 'd', cache_control },
        ],
      },
      ['messages[1].content[1] 5m', 'messages[2].content[0] 5m'],
    ],
    [
      'OpenRouterTeam/ai-sdk-provider#424, epam/ai-dial-sdk#374: the whole request',
      { messages: [{ role: 'user', content: 'a' }], cache_control: hour },
      ['1h'],
    ],
    [
      'pydantic/pydantic-ai#4604: more than Anthropic takes',
      {
        messages: [
          { role: 'system', content: 'a', cache_control },
          { role: 'user', content: ['b', 'c', 'd', 'e', 'f'].map((each) => text(each, { cache_control })) },
        ],
      },
      ['system[0] 5m', ...[0, 3, 4].map((at) => `messages[0].content[${at}] 5m`)],
    ],
    [
      'marks of another kind',
      { messages: [{ role: 'user', content: 'a', cache_control: { type: 'x' } }] },
      [],
    ],
    ['none', { messages: [{ role: 'user', content: 'a' }] }, []],
  ])('%s', (_, body, marks) => {
    const sent = sentTo(claude, body);
    expect(marksIn(sent).sort()).toEqual(marks.toSorted());
    // Other models behind the same API may refuse them.
    expect(marksIn(sentTo(claude, body, 'another'))).toEqual([]);
  });

  test('a text is the same with and without marks', () => {
    const content = [text('a'), text('b')];
    const marked = [text('a'), text('b', { cache_control })];
    const system = (parts: Json[]) =>
      sentTo(claude, {
        messages: [
          { role: 'system', content: parts },
          { role: 'user', content: 'c' },
        ],
      }).system;
    expect(system(marked)).toEqual([{ type: 'text', text: 'a\nb', cache_control }]);
    expect(system(content)).toEqual([{ type: 'text', text: 'a\nb' }]);
  });
});

test('aggregators get the marks as they are, Google none', () => {
  const messages = [{ role: 'user', content: [text('a', { cache_control })] }];
  const openrouter = chatAdapter({ name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1' });
  expect(sentTo(openrouter, { messages }).messages).toEqual(messages);
  const google = googleAdapter({ name: 'google', baseUrl: 'https://g.example' });
  expect(marksIn(sentTo(google, { messages }, 'gemini-2.5-pro'))).toEqual([]);
});
