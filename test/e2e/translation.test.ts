import { describe, expect, test } from 'vitest';
import type { UsageView } from '../../src/shared/contract/usage.ts';
import {
  backend as backendOf,
  backendsForThisFile,
  openAiAs,
  providerNames,
} from '../support/model-backends.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();

async function post(path: string, json: Json) {
  const answer = await backends.daemon.fetch(path, { json });
  const body = (await answer.json()) as Json & {
    id: string;
    status: string;
    output: Json[];
    usage: Json;
    choices: Json[];
  };
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return { ...body, requestId: String(answer.headers.get('x-request-id')) };
}

const respond = (json: Json) => post('/v1/responses', json);
const chat = (json: Json) => post('/v1/chat/completions', json);

async function usageOf(requestId: string): Promise<UsageView> {
  const answer = await backends.daemon.fetch(`/v1/usage/${requestId}`);
  return (await answer.json()) as UsageView;
}

const called = (call_id: string, name: string) => ({
  type: 'function_call',
  call_id,
  name,
  arguments: '{"city":"Oslo"}',
});
const answered = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output });
const tools = ['weather', 'clock'].map((name) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}));
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('a request to Claude', () => {
  test('has all tool results of a turn in one message, in the order of the calls, followed by text', async () => {
    await respond({
      model: backends.script('anthropic', { text: 'Done.' }),
      tools,
      input: [
        { role: 'user', content: 'Both!' },
        called('call_1', 'weather'),
        called('call_2', 'clock'),
        { role: 'user', content: 'Be quick.' },
        answered('call_2', 'noon'),
        answered('call_1', 'rain'),
      ],
    });
    const messages = backends.lastBody('anthropic').messages as Json[];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'call_1' },
      { type: 'tool_result', tool_use_id: 'call_2' },
      { type: 'text', text: 'Be quick.' },
    ]);
  });

  test('has the leading system messages in their own field', async () => {
    await chat({
      model: backends.script('anthropic', { text: 'Done.' }),
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'One.' },
        { role: 'user', content: 'Two.' },
        { role: 'developer', content: 'Rhyme from now on.' },
        { role: 'user', content: 'Three.' },
      ],
    });
    const { system, messages } = backends.lastBody('anthropic') as { system: Json[]; messages: Json[] };
    expect(system.map(({ text }) => text)).toEqual(['Be kind.', 'Be brief.']);
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages)).toMatch(/One\.[\s\S]*Two\.[\s\S]*Rhyme from now on\.[\s\S]*Three\./);
  });
});

describe('a request to Gemini', () => {
  test('names the function of each result, and distinguishes two calls of one function', async () => {
    backends.script('google', {
      calls: [
        { name: 'weather', input: { city: 'Oslo' } },
        { name: 'weather', input: { city: 'Rome' } },
      ],
    });
    const model = backends.script('google', { text: 'Rain, sun.' });
    const first = await respond({ model, tools, input: 'Oslo and Rome?' });
    const calls = first.output.filter(({ type }) => type === 'function_call');
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    await respond({
      model,
      tools,
      previous_response_id: first.id,
      input: [answered(String(calls[1]?.call_id), 'sun'), answered(String(calls[0]?.call_id), 'rain')],
    });
    const contents = backends.lastBody('google').contents as { parts: Json[] }[];
    expect(contents.at(-1)?.parts).toMatchObject([
      { functionResponse: { name: 'weather', response: { output: 'rain' } } },
      { functionResponse: { name: 'weather', response: { output: 'sun' } } },
    ]);
  });
});

const withOwnFormat = providerNames.filter((name) => backendOf(name).relays.length === 0);

test.each(withOwnFormat)('%s can be called without a user message', async (backend) => {
  for (const input of [
    '',
    '  ',
    [],
    [
      { role: 'user', content: '' },
      { role: 'assistant', content: 'Well?' },
    ],
  ]) {
    const { status } = await respond({ model: backends.script(backend, { text: 'Hello?' }), input });
    expect(status).toBe('completed');
  }
});

describe('a request to a chat-only server', () => {
  test('has an image from a tool’s output in a separate message', async () => {
    await respond({
      model: backends.script('chat-only', { text: 'A pixel.' }),
      tools,
      input: [
        { role: 'user', content: 'Look.' },
        called('call_1', 'weather'),
        answered('call_1', [
          { type: 'input_text', text: 'as seen:' },
          { type: 'input_image', image_url: pixel },
        ]),
      ],
    });
    const messages = backends.lastBody('chat-only').messages as Json[];
    expect(messages.slice(-2)).toMatchObject([
      { role: 'tool', tool_call_id: 'call_1', content: 'as seen:' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: pixel } }] },
    ]);
  });

  test('has system messages in place of developer messages', async () => {
    await chat({
      model: backends.script('chat-only', { text: 'Yes.' }),
      messages: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'Hi.' },
      ],
    });
    expect(backends.lastBody('chat-only').messages).toMatchObject([{ role: 'system' }, { role: 'user' }]);
  });
});

test.each(providerNames)(
  'the next request to %s starts with the previous one, so that its cache is hit',
  async (backend) => {
    const model = backends.script(
      backend,
      { reasoning: 'Hm.', calls: [{ name: 'weather' }] },
      { text: 'Rain.' },
    );
    const settings = {
      model,
      tools,
      instructions: 'Be kind.',
      reasoning: { effort: 'low', summary: 'auto' },
    };
    const first = await respond({ ...settings, input: 'Oslo?' });
    const history = (body: Json) => JSON.stringify(body.messages ?? body.contents ?? body.input).slice(0, -1);
    const before = backends.lastBody(backend);
    const call = first.output.find(({ type }) => type === 'function_call');
    await respond({
      ...settings,
      previous_response_id: first.id,
      input: [answered(String(call?.call_id), 'rain')],
    });
    const after = backends.lastBody(backend);
    expect(history(after).startsWith(history(before))).toBe(true);
    for (const member of ['tools', 'system', 'systemInstruction', 'instructions'])
      expect(after[member]).toEqual(before[member]);
  },
);

describe('tokens', () => {
  test('from Claude’s cache are part of the input, and its snapshots are not summed', async () => {
    backends.anthropic.answer({
      blocks: [{ text: 'Hi.' }],
      usage: {
        input_tokens: 25,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 200,
        output_tokens: 7,
      },
    });
    const { usage, requestId } = await respond({ model: backends.script('anthropic'), input: 'Hi.' });
    expect(usage).toEqual({
      input_tokens: 1225,
      input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1232,
    });
    expect((await usageOf(requestId)).tokens).toEqual({
      input: 1225,
      cached_input: 1000,
      cache_write: 200,
      output: 7,
      reasoning: 0,
    });
  });

  test('of audio cost the price of audio', async () => {
    const ask = async (promptTokensDetails: Json[]) => {
      const usage = { promptTokenCount: 1000, candidatesTokenCount: 1, promptTokensDetails };
      backends.google.answer({ parts: [{ text: 'Hi.' }], usage });
      const asked = await chat({
        model: 'google/gemini-2.5-flash',
        messages: [{ role: 'user', content: 'Hi.' }],
      });
      return Number((await usageOf(asked.requestId)).cost?.provider_usd);
    };
    const read = await ask([{ modality: 'TEXT', tokenCount: 1000 }]);
    const heard = await ask([{ modality: 'AUDIO', tokenCount: 1000 }]);
    // 1 and 0.3 dollars a million.
    expect(heard - read).toBeCloseTo(0.0007, 9);
  });

  test('of Gemini’s thoughts are part of the output, its cached ones part of the input', async () => {
    backends.google.answer({
      parts: [{ thought: 'Hm.' }, { text: 'Hi.' }],
      usage: {
        promptTokenCount: 500,
        cachedContentTokenCount: 400,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 30,
        totalTokenCount: 537,
      },
    });
    const { usage } = await chat({
      model: backends.script('google'),
      messages: [{ role: 'user', content: 'Hi.' }],
    });
    expect(usage).toMatchObject({
      prompt_tokens: 500,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens: 37,
      completion_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 537,
    });
  });

  test.each(['openai', 'chat-only', 'responses-only'] as const)(
    'of %s are reported unchanged',
    async (backend) => {
      const model = backends.script(backend);
      backends.openai.script(
        { text: 'Hi.', usage: { input: 100, output: 20, cached: 80, reasoning: 15 } },
        { text: 'Hi.', usage: { input: 100, output: 20, cached: 80, reasoning: 15 } },
      );
      const whole = await respond({ model, input: 'Hi.' });
      expect(whole.usage).toMatchObject({
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 80 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 15 },
        total_tokens: 120,
      });
      const chatted = await chat({ model, messages: [{ role: 'user', content: 'Hi.' }] });
      expect(chatted.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 });
      const [one, other] = [await usageOf(whole.requestId), await usageOf(chatted.requestId)];
      expect(one.tokens).toEqual({ input: 100, cached_input: 80, cache_write: 0, output: 20, reasoning: 15 });
      expect(other.tokens).toEqual(one.tokens);
      expect(other.cost).toEqual(one.cost);
    },
  );

  test('that a provider did not report are estimated and charged', async () => {
    const model = backends.script('chat-only');
    backends.openai.script({ text: 'Four words in all.', usage: 'none' });
    const { requestId } = await chat({ model, messages: [{ role: 'user', content: 'Hi.' }] });
    const { tokens, charged_usd } = await usageOf(requestId);
    expect(tokens.input).toBeGreaterThan(0);
    expect(tokens.output).toBeGreaterThan(0);
    expect(Number(charged_usd)).toBeGreaterThan(0);
  });
});

test.each(['openai', 'chat-only', 'responses-only'] as const)(
  'text of %s survives any cut of its bytes',
  async (backend) => {
    const text = 'Grüße, 世界! 🚀👩‍🚀 — “ok”';
    for (const path of ['/v1/responses', '/v1/chat/completions']) {
      const model = backends.script(backend);
      backends.openai.script({ text, bytesPerWrite: 3 });
      const input =
        path === '/v1/responses' ? { input: 'Hi.' } : { messages: [{ role: 'user', content: 'Hi.' }] };
      const answer = await backends.daemon.fetch(path, { json: { model, ...input, stream: true } });
      const events = (await answer.text())
        .split('\n\n')
        .flatMap((event) => /^data: (\{.*)/m.exec(event)?.[1] ?? []);
      const reported = events.map((data) => JSON.parse(data));
      const deltas = reported.map((event) =>
        event.type === 'response.output_text.delta' ? event.delta : (event.choices?.[0]?.delta.content ?? ''),
      );
      expect(deltas.join('')).toBe(text);
    }
  },
);

test.each(providerNames)(
  'fields that SDKs copy from an answer into their history are not sent to %s',
  async (backend) => {
    const echoed = { role: 'assistant', refusal: null, annotations: [], parsed: null, audio: null };
    await chat({
      model: backends.script(backend, { text: 'Yes.' }),
      messages: [
        { role: 'user', content: 'Your name?' },
        { ...echoed, content: [{ ...echoed, type: 'text', text: 'Ada.', reasoning_content: 'Hm.' }] },
        { role: 'user', content: 'Again?' },
      ],
    });
    const sent = JSON.stringify(backends.lastBody(backend));
    expect(sent).toContain('Ada.');
    expect(sent).not.toMatch(/refusal|"parsed|"audio|Hm\./);
  },
);

describe('extensions of a provider with the caller’s format', () => {
  test('are passed on, stored and sent back: the phase of a message', async () => {
    const message = {
      id: 'msg_phase',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'Looking.', annotations: [], logprobs: [] }],
    };
    const document = { id: 'r', object: 'response', status: 'completed', output: [message], usage: null };
    const model = backends.script('openai');
    backends.openai.script({ raw: { body: JSON.stringify(document) } }, { text: 'Found.' });
    const first = await respond({ model, input: 'Look.' });
    expect(first.output[0]).toMatchObject({ phase: 'commentary' });
    await respond({ model, previous_response_id: first.id, input: 'And?' });
    expect(backends.lastBody('openai').input).toMatchObject([
      {},
      { role: 'assistant', phase: 'commentary' },
      {},
    ]);
  });

  describe('are passed on: several parts of one message, each with its own citations', () => {
    const cited = {
      type: 'url_citation',
      url: 'https://a.example',
      title: 'A',
      start_index: 0,
      end_index: 3,
    };
    const parts = [
      { type: 'output_text', text: 'Looked. ' },
      { type: 'output_text', text: 'Sun', annotations: [cited], logprobs: [] },
    ];
    const shown = parts.map((part) => ({ annotations: [], logprobs: [], ...part }));
    const item = { id: 'm', type: 'message', status: 'completed', role: 'assistant', content: parts };
    const document = { id: 'r', object: 'response', status: 'completed', output: [item], usage: null };

    test('in a document', async () => {
      const model = backends.script('openai');
      backends.openai.script({ raw: { body: JSON.stringify(document) } });
      const { output } = await respond({ model, input: 'Weather?' });
      expect(output[0]?.content).toEqual(shown);
    });

    test('in a stream, whose last event repeats the others', async () => {
      const model = backends.script('openai');
      const events: Json[] = [
        { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
        ...parts.map(({ text: delta }, content_index) => ({
          type: 'response.output_text.delta',
          output_index: 0,
          item_id: 'm',
          content_index,
          delta,
        })),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: document },
      ];
      const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      backends.openai.script({ raw: { headers: { 'content-type': 'text/event-stream' }, body } });
      const answer = await backends.daemon.fetch('/v1/responses', {
        json: { model, input: 'Weather?', stream: true },
      });
      const reported = (await answer.text()).matchAll(/^data: (\{.*)$/gm);
      const last = [...reported].map(([, data]) => JSON.parse(data ?? '') as Json).at(-1);
      expect(last).toMatchObject({ type: 'response.completed', response: { output: [{ content: shown }] } });
    });
  });

  test('reach it even if unknown here: members, tools and items', async () => {
    await respond({
      model: backends.script('openai', { text: 'Yes.' }),
      input: [
        { role: 'user', content: 'Search.' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      ],
      tools: [{ type: 'web_search' }, ...tools],
      prompt_cache_retention: '24h',
      client_metadata: { a: 'b' },
    });
    expect(backends.lastBody('openai')).toMatchObject({
      input: [{}, { type: 'web_search_call', id: 'ws_1' }],
      tools: [{ type: 'web_search' }, {}, {}],
      prompt_cache_retention: '24h',
      client_metadata: { a: 'b' },
    });
  });

  test('are omitted for other providers', async () => {
    await respond({
      model: backends.script('anthropic', { text: 'Yes.' }),
      input: 'Search.',
      tools: [{ type: 'web_search' }, ...tools],
      prompt_cache_retention: '24h',
    });
    expect(backends.lastBody('anthropic').tools).toHaveLength(2);
  });
});

describe.each(['gpt-5-pro', 'gpt-5.1-codex-max', 'o3-pro', 'codex-mini-latest'])(
  'a model that OpenAI has in the Responses format only: %s',
  (name) => {
    test.each([
      ['/v1/chat/completions', false],
      ['/v1/chat/completions', true],
      ['/v1/messages', false],
      ['/v1/messages', true],
      ['/v1/responses', true],
    ])('answers %s (stream: %s)', async (path, stream) => {
      backends.script('openai', { text: 'Good morning!' });
      const messages = [{ role: 'user', content: 'Hello!' }];
      const said = path === '/v1/responses' ? { input: 'Hello!' } : { messages, max_tokens: 1000 };
      const answer = await backends.daemon.fetch(path, {
        json: { model: `openai/${name}`, stream, ...said },
      });
      expect({ status: answer.status, text: await answer.text() }).toMatchObject({
        status: 200,
        text: expect.stringMatching(/morning/),
      });
      expect(backends.lastBody('openai')).toMatchObject({ model: name, input: expect.anything() });
    });
  },
);

describe('`stop` for a provider whose format lacks it', () => {
  const asked = { messages: [{ role: 'user' as const, content: 'Count!' }], stop: ['four', 'two'] };
  const counting = { text: 'one two three four' };

  test.each([false, true])('still ends the answer (stream: %s)', async (stream) => {
    const openai = openAiAs(backends.daemon);
    const model = backends.script('responses-only', counting);
    const request = { ...asked, model, stream } as const;
    const answer = await (stream
      ? openai.chat.completions.stream({ ...request, stream: true }).finalChatCompletion()
      : openai.chat.completions.create({ ...request, stream: false }));
    expect(answer.choices[0]).toMatchObject({ message: { content: 'one ' }, finish_reason: 'stop' });
    expect(backends.lastBody('responses-only')).not.toHaveProperty('stop');
  });
});
