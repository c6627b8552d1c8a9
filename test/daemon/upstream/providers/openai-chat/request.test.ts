import { describe, expect, test } from 'vitest';
import type { Inference, InputItem } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { chatAdapter } from '../../../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { chatFault } from '../../../../support/fake-openai-checks.ts';
import { callOf } from '../../upstream-fixture.ts';

type Json = Record<string, unknown>;

function bodyFor(call: UpstreamCall, name = 'openai'): Json {
  const adapter = chatAdapter({ name, baseUrl: 'https://p.example/v1' });
  return JSON.parse(adapter.request(call).body);
}

/** A call in the Responses format. */
const translated = (more: Partial<Inference>, route?: Parameters<typeof callOf>[1]) =>
  callOf({ wire: 'responses', ...more }, route);

const relayed = (body: Json, more: Partial<Inference> = {}) =>
  callOf({
    body: { model: 'openai/gpt-fake', messages: [{ role: 'user', content: 'Hi' }], ...body },
    ...more,
  });

const text = (value: string) => [{ type: 'text' as const, text: value }];
const user = (value: string): InputItem => ({ type: 'message', role: 'user', content: text(value) });
const called = (callId: string): InputItem => ({ type: 'function_call', callId, name: 'f', arguments: '{}' });
const output = (callId: string, value: string): InputItem => ({
  type: 'function_call_output',
  callId,
  output: text(value),
});
const tool = {
  type: 'function' as const,
  name: 'f',
  description: undefined,
  parameters: undefined,
  strict: undefined,
};

describe('the address of a request', () => {
  test('has the path of the format, with the key as a bearer token', () => {
    const adapter = chatAdapter({ name: 'p', baseUrl: 'https://p.example/v1' });
    expect(adapter.request(callOf())).toMatchObject({
      url: 'https://p.example/v1/chat/completions',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    });
    const { headers } = adapter.request(callOf({}, { key: undefined }));
    expect(headers).not.toHaveProperty('authorization');
  });

  test.each([
    ['https://api.mistral.ai/v1', 'x', 'max_tokens'],
    ['https://api.openai.com/v1', 'x', 'max_completion_tokens'],
    ['http://127.0.0.1:9/v1', 'openai', 'max_completion_tokens'],
    ['http://127.0.0.1:9/v1', 'constructor', 'max_tokens'],
    ['http://nas.example:11434/v1', 'mine', 'max_tokens'],
  ])('the field that limits the output follows from %s and the name %s', (baseUrl, name, field) => {
    const adapter = chatAdapter({ name, baseUrl });
    const body = JSON.parse(adapter.request(callOf({}, { outputTokensMax: 99 })).body);
    expect(body[field]).toBe(99);
  });
});

describe('a caller of the same format', () => {
  test('keeps everything except the model and gateway members', () => {
    const body = bodyFor(
      relayed({ temperature: 0.5, vendor_thing: { a: 1 }, store: true, metadata: { a: 'b' } }),
    );
    expect(body).toEqual({
      model: 'gpt-fake',
      messages: [{ role: 'user', content: 'Hi' }],
      temperature: 0.5,
      vendor_thing: { a: 1 },
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('always gets usage in streams, and only there', () => {
    const options = { stream_options: { include_usage: false, include_obfuscation: false } };
    expect(bodyFor(relayed(options)).stream_options).toEqual({
      include_usage: true,
      include_obfuscation: false,
    });
    expect(bodyFor(relayed({}, { stream: false }))).toMatchObject({ stream: false });
    expect(bodyFor(relayed({}, { stream: false }))).not.toHaveProperty('stream_options');
  });

  test.each([
    ['openai', { max_tokens: 500 }, { max_completion_tokens: 100 }],
    ['openai', { max_completion_tokens: 500 }, { max_completion_tokens: 100 }],
    ['another', { max_completion_tokens: 500 }, { max_completion_tokens: 100 }],
    ['another', {}, { max_tokens: 100 }],
    ['ollama', { max_completion_tokens: 500 }, { max_tokens: 100 }],
    ['mistral', { max_completion_tokens: 500 }, { max_tokens: 100 }],
  ] as const)('is limited to its budget, in the field that %s accepts: %j', (provider, asked, sent) => {
    const body = bodyFor({ ...relayed(asked), outputTokensMax: 100 }, provider);
    expect({ max_tokens: body.max_tokens, max_completion_tokens: body.max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      ...sent,
    });
  });

  test('keeps its own limit, renamed if necessary', () => {
    expect(bodyFor(relayed({ max_completion_tokens: 7 }), 'mistral')).toMatchObject({ max_tokens: 7 });
    expect(bodyFor(relayed({ max_tokens: null }), 'mistral')).not.toHaveProperty('max_completion_tokens');
  });

  test('Mistral gets nothing that it refuses', () => {
    const messages = [
      { role: 'developer', content: 'be brief' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [{ id: 'call_abc', type: 'function' }],
      },
      { role: 'tool', tool_call_id: 'call_abc', content: '1' },
    ];
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const body = bodyFor(relayed({ messages, tools, tool_choice: 'required', seed: 4 }), 'mistral');
    const [system, assistant, result] = body.messages as Json[];
    expect(body).not.toHaveProperty('stream_options');
    expect(body).toMatchObject({ tool_choice: 'any', random_seed: 4 });
    expect(body).not.toHaveProperty('seed');
    expect(system).toEqual({ role: 'system', content: 'be brief' });
    const [call] = (assistant?.tool_calls ?? []) as Json[];
    expect(call?.id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(result?.tool_call_id).toBe(call?.id);
    expect(assistant).not.toHaveProperty('reasoning_content');
    expect(bodyFor(relayed({ messages }), 'mistral').messages).toEqual(body.messages);
  });

  test.each([
    ['openai', []],
    ['groq', ['reasoning']],
    ['deepseek', ['reasoning_content']],
    ['another', ['reasoning_content', 'reasoning', 'reasoning_details']],
  ] as const)('%s gets back only the thoughts that it accepts', (provider, kept) => {
    const thoughts = {
      reasoning_content: 'a',
      reasoning: 'b',
      reasoning_details: [{ type: 'reasoning.text' }],
    };
    const messages = [{ role: 'assistant', content: 'x', ...thoughts }];
    const [message] = bodyFor(relayed({ messages }), provider).messages as Json[];
    expect(Object.keys(message ?? {}).filter((field) => field.startsWith('reasoning'))).toEqual([...kept]);
  });

  test('gets empty objects for missing arguments in its history, since they must be JSON', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } };
    const messages = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: '1' },
    ];
    const [assistant] = bodyFor(relayed({ messages }), 'another').messages as Json[];
    expect(assistant?.tool_calls).toEqual([{ ...call, function: { name: 'f', arguments: '{}' } }]);
  });

  test('DeepSeek gets reasoning_content in every assistant message, without which it refuses histories', () => {
    const messages = [
      { role: 'user', content: '?' },
      { role: 'assistant', content: 'Yes' },
      { role: 'user', content: 'Sure?' },
      { role: 'assistant', content: 'No', reasoning_content: 'hm' },
    ];
    expect(bodyFor(relayed({ messages }), 'deepseek').messages).toEqual([
      messages[0],
      { ...messages[1], reasoning_content: '' },
      ...messages.slice(2),
    ]);
    const items = [user('?'), called('c1'), output('c1', '1')];
    const [, assistant] = bodyFor(translated({ items }), 'deepseek').messages as Json[];
    expect(assistant).toMatchObject({ role: 'assistant', reasoning_content: '' });
    expect(bodyFor(relayed({ messages }), 'another').messages).toEqual(messages);
  });

  test('gets empty text instead of null for empty answers', () => {
    const messages = [{ role: 'assistant', content: null, refusal: null, tool_calls: [] }];
    expect(bodyFor(relayed({ messages })).messages).toEqual([{ role: 'assistant', content: '' }]);
  });

  test('gets no empty lists of tools, nor options for them', () => {
    const body = bodyFor(relayed({ tools: [], tool_choice: 'required', parallel_tool_calls: true }));
    expect(Object.keys(body)).toEqual(['model', 'messages', 'stream', 'stream_options']);
  });

  test('keeps its own objects unchanged', () => {
    const messages = [{ role: 'developer', content: 'x' }];
    const call = relayed({ messages, store: true, max_tokens: 5 });
    const before = structuredClone(call);
    bodyFor({ ...call, outputTokensMax: 3 }, 'mistral');
    expect(call).toEqual(before);
  });
});

describe('a caller of another format', () => {
  test('a turn with parallel calls is one message, and its outputs follow it', () => {
    const items = [
      user('Weather?'),
      { type: 'message' as const, role: 'assistant' as const, content: text('Let me see.') },
      called('c1'),
      called('c2'),
      output('c1', 'sun'),
      output('c2', 'rain'),
      user('Thanks'),
    ];
    const body = bodyFor(translated({ items, instructions: 'Be kind.', tools: [tool] }));
    expect(body.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'sun' },
      { role: 'tool', tool_call_id: 'c2', content: 'rain' },
      { role: 'user', content: 'Thanks' },
    ]);
    expect(chatFault(body)).toBeUndefined();
  });

  test('text after calls is added to their message, since nothing may precede the outputs', () => {
    const said: InputItem = { type: 'message', role: 'assistant', content: text('Looking.') };
    const body = bodyFor(translated({ items: [user('?'), called('c1'), said, output('c1', '1')] }));
    expect(chatFault(body)).toBeUndefined();
    expect((body.messages as Json[])[1]).toMatchObject({ content: 'Looking.' });
  });

  test('outputs directly follow their calls, whatever was between them', () => {
    const items = [
      user('?'),
      called('c1'),
      called('c2'),
      user('Hurry'),
      output('c2', 'two'),
      output('c1', 'one'),
    ];
    const body = bodyFor(translated({ items }));
    expect(chatFault(body)).toBeUndefined();
    expect(body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: 'one' },
      { role: 'tool', content: 'two' },
      { role: 'user', content: 'Hurry' },
    ]);
  });

  test.each([
    [undefined, { type: 'object', properties: {} }],
    [{}, { type: 'object', properties: {} }],
    [{ type: 'object' }, { type: 'object', properties: {} }],
    [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [{ anyOf: [{ type: 'object' }] }, { type: 'object', properties: {} }],
  ])(
    'a tool with the parameters %j is declared as an object that lists its properties',
    (parameters, sent) => {
      const body = bodyFor(translated({ tools: [{ ...tool, parameters }] }));
      expect(body.tools).toMatchObject([{ function: { parameters: sent } }]);
      expect(chatFault(body)).toBeUndefined();
    },
  );

  test('images in tool outputs move to the user, after all outputs', () => {
    const image = { type: 'image' as const, url: 'data:image/png;base64,AAAA' };
    const items: InputItem[] = [
      user('?'),
      called('c1'),
      called('c2'),
      { type: 'function_call_output', callId: 'c1', output: [...text('see'), image] },
      { type: 'function_call_output', callId: 'c2', output: [image] },
    ];
    const body = bodyFor(translated({ items }));
    expect(chatFault(body)).toBeUndefined();
    const messages = body.messages as Json[];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(messages[2]).toMatchObject({ content: 'see' });
    expect(messages[4]?.content).toHaveLength(2);
  });

  test('developer messages become system messages if necessary', () => {
    const items: InputItem[] = [{ type: 'message', role: 'developer', content: text('brief') }, user('?')];
    expect(bodyFor(translated({ items })).messages).toMatchObject([{ role: 'developer' }, { role: 'user' }]);
    expect(bodyFor(translated({ items }), 'another').messages).toMatchObject([{ role: 'system' }, {}]);
  });

  test('all kinds of parts', () => {
    const content = [
      ...text('look'),
      { type: 'image' as const, url: 'https://x.example/a.png', detail: 'low' },
      { type: 'file' as const, filename: 'a.pdf', data: 'JVBERi0=' },
      { type: 'audio' as const, data: 'AAAA', format: 'wav' },
    ];
    const body = bodyFor(translated({ items: [{ type: 'message', role: 'user', content }] }));
    expect(chatFault(body)).toBeUndefined();
    expect((body.messages as Json[])[0]?.content).toEqual([
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png', detail: 'low' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    ]);
  });

  test('a file URL is refused if only data is accepted, else passed on', () => {
    const content = [{ type: 'file' as const, url: 'https://x.example/a.pdf' }];
    const call = translated({ items: [{ type: 'message', role: 'user', content }] });
    expect(() => bodyFor(call)).toThrow(expect.objectContaining({ kind: 'caller' }));
    expect(JSON.stringify(bodyFor(call, 'openrouter'))).toContain('"file_data":"https://x.example/a.pdf"');
  });

  test('thoughts are only sent back to the provider and model that they came from, in the same field', () => {
    const thought = (provider: string, payload: unknown): InputItem => ({
      type: 'reasoning',
      summary: ['shown'],
      origin: { provider, model: 'gpt-fake', payload },
    });
    const turn = (item: InputItem) => {
      const items = [user('?'), item, called('c1'), output('c1', '1')];
      return (bodyFor(translated({ items }), 'another').messages as Json[])[1];
    };
    expect(turn(thought('another', { reasoning_content: 'hm' }))).toMatchObject({ reasoning_content: 'hm' });
    const details = [{ type: 'reasoning.encrypted', data: 'x' }];
    expect(turn(thought('another', { reasoning_details: details }))).toMatchObject({
      reasoning_details: details,
    });
    expect(turn(thought('another', { thinking: 'hm' }))).toMatchObject({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }],
    });
    expect(JSON.stringify(turn(thought('other', { reasoning_content: 'canary' })))).not.toContain('canary');
    expect(JSON.stringify(turn(thought('another', { reasoning_content: 'hm' })))).not.toContain('shown');
  });

  test('tools, choices and formats', () => {
    const schema = { type: 'object', properties: {} };
    const opaque = { type: 'opaque' as const, json: { type: 'web_search' } };
    const body = bodyFor(
      translated({
        tools: [tool, { ...tool, name: 'g', strict: true }, opaque],
        toolChoice: { mode: 'function', name: 'g' },
        parallelToolCalls: false,
        format: { type: 'json_schema', name: 'n', description: undefined, schema, strict: true },
        reasoning: { effort: 'low', summary: 'auto' },
        verbosity: 'low',
        sampling: { temperature: 0, stop: ['x'], topLogprobs: 2, topK: 5 },
        outputTokensMax: 50,
      }),
    );
    expect(chatFault(body)).toBeUndefined();
    expect(body).toMatchObject({
      tools: [{ function: { name: 'f' } }, { function: { name: 'g', strict: true } }],
      tool_choice: { type: 'function', function: { name: 'g' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
      reasoning_effort: 'low',
      verbosity: 'low',
      temperature: 0,
      stop: ['x'],
      logprobs: true,
      top_logprobs: 2,
      max_completion_tokens: 50,
    });
    expect(body).not.toHaveProperty('top_k');
  });

  test('a choice among some tools drops the others; without tools there is no choice', () => {
    const tools = [tool, { ...tool, name: 'g' }];
    const toolChoice = { mode: 'allowed' as const, names: ['g'], required: true };
    expect(bodyFor(translated({ tools, toolChoice }), 'mistral')).toMatchObject({
      tools: [{ function: { name: 'g' } }],
      tool_choice: 'any',
    });
    const bare = bodyFor(translated({ toolChoice: { mode: 'required' }, parallelToolCalls: true }));
    expect(bare).not.toHaveProperty('tool_choice');
    expect(bare).not.toHaveProperty('parallel_tool_calls');
  });

  test.each([
    ['gpt-5-mini', 'max_completion_tokens'],
    ['openai/o3', 'max_completion_tokens'],
    ['gpt-oss:20b', 'max_tokens'],
    ['llama-4', 'max_tokens'],
  ])('the output limit of %s is %s if the server is unknown', (model, field) => {
    const body = bodyFor(translated({}, { model, outputTokensMax: 9 }), 'another');
    expect({ [field]: body[field] }).toEqual({ [field]: 9 });
  });

  test('OpenRouter gets the effort in a separate member', () => {
    const call = translated({ reasoning: { effort: 'high', summary: undefined } });
    expect(bodyFor(call, 'openrouter').reasoning).toEqual({ effort: 'high' });
  });

  test('the same history gives the same bytes', () => {
    const call = translated({
      items: [
        user('?'),
        called('call_long_id_of_another_provider'),
        output('call_long_id_of_another_provider', '1'),
      ],
    });
    expect(JSON.stringify(bodyFor(call, 'mistral'))).toBe(
      JSON.stringify(bodyFor(structuredClone(call), 'mistral')),
    );
  });
});
