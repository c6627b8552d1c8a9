import { describe, expect, test } from 'vitest';
import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parsePrompt } from '../../src/daemon/features/inference/formats/messages/parse.ts';
import { parseResponses } from '../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../src/daemon/features/inference/formats/responses/parse-input.ts';
import type { Inference } from '../../src/daemon/features/upstreams/neutral.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../src/daemon/upstream/providers/openai-responses/adapter.ts';
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

const openrouter = chatAdapter({ name: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1' });
const openai = responsesAdapter({ name: 'openai', baseUrl: 'https://api.openai.com/v1' });

type Read = (body: Json) => Inference;
const messages: Read = (body) =>
  parsePrompt({ model: 'm', max_tokens: 9, ...body } as never, {}, () => undefined);
const responses: Read = (body) =>
  parseResponses(
    { model: 'm', ...body } as never,
    parseInput(body.input, () => undefined),
  );
const asked = (adapter: typeof claude, inference: Inference, model: string): Json =>
  JSON.parse(adapter.request(callOf(inference, { model })).body);

/** What Claude Code sends. */
const codeRequest = {
  system: [
    text('x-anthropic-billing-header: cc_version=2;'),
    text('You are', { cache_control }),
    text('now'),
  ],
  messages: [
    { role: 'user', content: [text('a'), text('b')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok', cache_control: hour }],
    },
    { role: 'assistant', content: 'c' },
    { role: 'user', content: [text('d', { cache_control })] },
  ],
  tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
};

// getnao/nao#1381, nextlevelbuilder/goclaw#1042, microsoft/vscode#312939, ujisati/claude-code-provider-proxy#19
describe('Claude at an aggregator caches only what is marked', () => {
  const model = 'anthropic/claude-sonnet-4.5';

  test('and gets the marks of Claude Code', () => {
    const sent = asked(openrouter, messages(codeRequest), model);
    expect(sent.messages).toMatchObject([
      { role: 'system', content: [text('You are', { cache_control }), text('now')] },
      { role: 'user', content: 'a\n\nb' },
      { role: 'assistant' },
      // Beside the content, NousResearch/hermes-agent#2391 was never answered.
      { role: 'tool', tool_call_id: 't', content: [text('ok', { cache_control: hour })] },
      { role: 'assistant', content: 'c' },
      { role: 'user', content: [text('d', { cache_control })] },
    ]);
  });

  test('and no more than it takes (pydantic/pydantic-ai#4604)', () => {
    const parts = ['b', 'c', 'd', 'e'].map((each) => text(each, { cache_control }));
    const body = { system: [text('a', { cache_control })], messages: [{ role: 'user', content: parts }] };
    expect(marksIn(asked(openrouter, messages(body), model))).toEqual(
      ['messages[0].content[0]', ...[0, 2, 3].map((at) => `messages[1].content[${at}]`)].map(
        (at) => `${at} 5m`,
      ),
    );
  });

  test('beside a mark for the whole request, others keep their lifetime', () => {
    const system = [text('a', { cache_control: hour })];
    const body = { system, messages: [{ role: 'user', content: 'b' }], cache_control };
    expect(marksIn(asked(openrouter, messages(body), model))).toEqual([
      'messages[0].content[0] 1h',
      'messages[1].content[0] 5m',
    ]);
  });

  test('other models get none', () => {
    const sent = asked(openrouter, messages(codeRequest), 'openai/gpt-5.6-sol');
    expect(marksIn(sent)).toEqual([]);
    expect((sent.messages as Json[])[0]).toEqual({ role: 'system', content: 'You are\n\nnow' });
  });

  test('callers who ask for caching as a whole have the ends marked, as Codex does by its key', () => {
    const input = [
      { type: 'message', role: 'user', content: 'a' },
      { type: 'message', role: 'assistant', content: 'b' },
      { type: 'message', role: 'user', content: 'c' },
    ];
    const body = { instructions: 'Be brief.', input };
    const sent = asked(openrouter, responses({ ...body, prompt_cache_key: 'k' }), model);
    expect(marksIn(sent)).toEqual(['messages[0].content[0] 5m', 'messages[3].content[0] 5m']);
    expect(marksIn(asked(openrouter, responses(body), model))).toEqual([]);
    const marked = [{ type: 'input_text', text: 'c', prompt_cache_breakpoint: { mode: 'explicit' } }];
    const own = { ...body, input: [...input.slice(0, 2), { ...input[2], content: marked }] };
    expect(marksIn(asked(openrouter, responses({ ...own, prompt_cache_key: 'k' }), model))).toEqual([
      'messages[3].content[0] 5m',
    ]);
  });
});

// agentgateway/agentgateway#2555, maximhq/bifrost#6699, BerriAI/litellm#37628, openai/codex#35300, can1357/oh-my-pi#12780
describe('breakpoints of GPT-5.6', () => {
  const prompt_cache_breakpoint = { mode: 'explicit' };
  const input = (value: string, more: Json = {}) => ({ type: 'input_text', text: value, ...more });

  test('are set where a caller of the Messages format marked the prompt', () => {
    const sent = asked(openai, messages(codeRequest), 'gpt-5.6-sol');
    expect(sent.instructions).toBeUndefined();
    expect(sent.input).toEqual([
      {
        type: 'message',
        role: 'system',
        content: [input('You are', { prompt_cache_breakpoint }), input('now')],
      },
      { type: 'message', role: 'user', content: [input('a'), input('b')] },
      expect.objectContaining({ type: 'function_call' }),
      { type: 'function_call_output', call_id: 't', output: [input('ok', { prompt_cache_breakpoint })] },
      expect.objectContaining({ role: 'assistant' }),
      { type: 'message', role: 'user', content: [input('d', { prompt_cache_breakpoint })] },
    ]);
  });

  test.each(['gpt-5.5', 'gpt-4.1', 'gpt-5.1-codex'])('are not known to %s', (model) => {
    const sent = asked(openai, messages(codeRequest), model);
    expect(sent.instructions).toBe('You are\n\nnow');
    expect(JSON.stringify(sent)).not.toMatch(/prompt_cache_breakpoint|cache_control/);
  });

  test('are not set at other servers with a model of that name', () => {
    const other = responsesAdapter({ name: 'other', baseUrl: 'https://other.example/v1' });
    expect(JSON.stringify(asked(other, messages(codeRequest), 'gpt-5.6-sol'))).not.toContain('breakpoint');
  });

  test('of callers of both formats of OpenAI reach Claude', () => {
    const chat = [
      { role: 'system', content: [text('a', { prompt_cache_breakpoint })] },
      { role: 'user', content: [text('b', { prompt_cache_breakpoint }), text('c')] },
    ];
    expect(marksIn(sentTo(claude, { messages: chat }))).toEqual([
      'system[0] 5m',
      'messages[0].content[0] 5m',
    ]);
    const items = [
      {
        type: 'message',
        role: 'user',
        content: ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => input(each, { prompt_cache_breakpoint })),
      },
    ];
    const sent = asked(claude, responses({ input: items }), 'claude-sonnet-4-5');
    expect(marksIn(sent)).toEqual([0, 1, 4, 5].map((at) => `messages[0].content[${at}] 5m`));
  });
});

test('aggregators get the marks as they are, Google none', () => {
  const given = [{ role: 'user', content: [text('a', { cache_control })] }];
  expect(sentTo(openrouter, { messages: given }).messages).toEqual(given);
  const google = googleAdapter({ name: 'google', baseUrl: 'https://g.example' });
  expect(marksIn(sentTo(google, { messages: given }, 'gemini-2.5-pro'))).toEqual([]);
});
