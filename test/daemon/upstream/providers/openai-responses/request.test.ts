import { describe, expect, test } from 'vitest';
import type { Inference, InputItem } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { responsesAdapter } from '../../../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { responsesFault } from '../../../../support/fake-openai-checks.ts';
import { sealedPrefix } from '../../../../support/fake-openai-responses.ts';
import { callOf } from '../../upstream-fixture.ts';

type Json = Record<string, unknown>;

const adapter = responsesAdapter({ name: 'p', baseUrl: 'https://p.example/v1' });
const bodyFor = (call: UpstreamCall): Json => JSON.parse(adapter.request(call).body);
const responses = (more: Partial<Inference> = {}, route?: Parameters<typeof callOf>[1]) =>
  callOf({ wire: 'responses', ...more }, route);

const text = (value: string) => [{ type: 'text' as const, text: value }];
const user = (value: string): InputItem => ({
  type: 'message',
  role: 'user',
  content: text(value),
  id: 'msg_ours',
});
const thought = (provider: string, model = 'gpt-fake'): InputItem => ({
  type: 'reasoning',
  summary: ['shown'],
  id: 'rs_ours',
  origin: { provider, model, payload: { encrypted_content: `${sealedPrefix}x`, id: 'rs_theirs' } },
});

describe('a request of the same format', () => {
  const items: InputItem[] = [
    user('Hi'),
    thought('p'),
    { type: 'function_call', callId: 'c1', name: 'f', arguments: '{}', id: 'fc_ours' },
    { type: 'function_call_output', callId: 'c1', output: text('1') },
    { type: 'opaque', wire: 'responses', json: { type: 'web_search_call', id: 'ws_1' } },
  ];

  test('sends the resolved history without gateway ids or state', () => {
    const body = {
      model: 'openai/gpt-fake',
      input: 'ignored',
      metadata: { a: 'b' },
      vendor: 1,
    };
    const sent = bodyFor(responses({ items, body }, { outputTokensMax: 64 }));
    expect(sent).toEqual({
      model: 'gpt-fake',
      stream: true,
      store: false,
      metadata: { a: 'b' },
      vendor: 1,
      max_output_tokens: 64,
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        {
          type: 'reasoning',
          id: 'rs_theirs',
          summary: [{ type: 'summary_text', text: 'shown' }],
          encrypted_content: `${sealedPrefix}x`,
        },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: '1' },
        { type: 'web_search_call', id: 'ws_1' },
      ],
    });
    const { vendor: _vendor, ...known } = sent;
    expect(responsesFault(known)).toBeUndefined();
  });

  test.each([
    ['another provider', thought('other')],
    ['another model', thought('p', 'gpt-other')],
    ['an unknown source', { type: 'reasoning' as const, summary: ['shown'], origin: undefined }],
  ])('thoughts of %s are dropped', (_case, item) => {
    expect(JSON.stringify(bodyFor(responses({ items: [user('Hi'), item] })).input)).not.toContain('shown');
  });

  test.each([
    ['gpt-5-mini', {}, ['reasoning.encrypted_content']],
    // It has no log probabilities.
    ['o4-mini', { body: { include: ['message.output_text.logprobs'] } }, ['reasoning.encrypted_content']],
    ['gpt-fake', { reasoning: { effort: 'low', summary: undefined } }, ['reasoning.encrypted_content']],
    ['gpt-4o', {}, undefined],
    ['gpt-5-chat-latest', {}, undefined],
  ])('%s is asked for encrypted reasoning if it has any', (model, more, include) => {
    const sent = bodyFor(responses(more, { model }));
    expect(sent.include).toEqual(include);
    expect(responsesFault(sent)).toBeUndefined();
  });

  test('keeps all tools unchanged, known or not', () => {
    const tools = [
      { type: 'web_search' },
      { type: 'namespace', name: 'n' },
      { type: 'function', name: 'f', strict: null },
    ];
    expect(bodyFor(responses({ body: { tools, tool_choice: 'auto' } }))).toMatchObject({
      tools,
      tool_choice: 'auto',
    });
  });

  test('all kinds of content', () => {
    const content = [
      ...text('look'),
      { type: 'image' as const, url: 'data:image/png;base64,AAAA' },
      { type: 'file' as const, filename: 'a.pdf', data: 'data:application/pdf;base64,JVBERi0=' },
      { type: 'file' as const, url: 'https://x.example/a.pdf' },
    ];
    const said: InputItem[] = [
      { type: 'message', role: 'assistant', content: [...text('a'), { type: 'refusal', refusal: 'no' }] },
      { type: 'message', role: 'user', content: [] },
    ];
    const sent = bodyFor(responses({ items: [{ type: 'message', role: 'user', content }, ...said] }));
    expect(responsesFault(sent)).toBeUndefined();
    expect(sent.input).toMatchObject([
      {
        content: [
          { type: 'input_text' },
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf' },
          { type: 'input_file', file_url: 'https://x.example/a.pdf' },
        ],
      },
      {
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { content: '' },
    ]);
  });
});

test('a request of a chat caller is translated', () => {
  const tool = {
    type: 'function' as const,
    name: 'f',
    description: 'd',
    parameters: undefined,
    strict: undefined,
  };
  const sent = bodyFor(
    callOf({
      instructions: 'Be kind.',
      tools: [tool, { type: 'opaque', json: { type: 'custom' } }],
      toolChoice: { mode: 'allowed', names: ['f'], required: true },
      parallelToolCalls: false,
      format: {
        type: 'json_schema',
        name: 'n',
        description: undefined,
        schema: { type: 'object' },
        strict: true,
      },
      verbosity: 'low',
      reasoning: { effort: 'high', summary: undefined },
      sampling: { temperature: 0, topP: 0.5, topLogprobs: 3, stop: ['x'] },
      outputTokensMax: 100,
    }),
  );
  expect(responsesFault(sent)).toBeUndefined();
  expect(sent).toEqual({
    model: 'gpt-fake',
    instructions: 'Be kind.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    stream: true,
    store: false,
    max_output_tokens: 100,
    temperature: 0,
    top_p: 0.5,
    text: {
      format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
      verbosity: 'low',
    },
    include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
    top_logprobs: 3,
    reasoning: { effort: 'high' },
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] },
    parallel_tool_calls: false,
  });
});
