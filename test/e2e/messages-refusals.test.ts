import { describe, expect, test } from 'vitest';
import { type BackendName, backendsForThisFile } from '../support/model-backends.ts';

/** Requests that Anthropic refuses are refused for every provider alike, before one is asked. */

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();
const { daemon } = backends;

async function post(path: string, json: Json, headers: Json = {}) {
  const answer = await fetch(daemon.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': daemon.key,
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify(json),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
const question = { role: 'user', content: 'Weather?' };
const call = (...ids: string[]) => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'weather', input: {} })),
});
const result = (id: string, content: unknown = 'Rain.') => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});
const results = (...content: Json[]) => ({ role: 'user', content });
const text = (said: string) => ({ type: 'text', text: said });

/** Name, what is added to a valid request, and the start of the message. */
const refused: [string, Json, RegExp][] = [
  [
    'a budget below the minimum',
    { thinking: { type: 'enabled', budget_tokens: 1023 } },
    /^thinking\.budget_tokens: .*1024/,
  ],
  ['a missing budget', { thinking: { type: 'enabled' } }, /^thinking\.budget_tokens: This is required/],
  [
    'a budget without manual thinking',
    { thinking: { type: 'adaptive', budget_tokens: 2048 } },
    /^thinking\.budget_tokens: /,
  ],
  ['thinking of no kind', { thinking: {} }, /^thinking\.type: This is required/],
  [
    'a forced call with a budget of thoughts',
    { tools, tool_choice: { type: 'any' }, thinking: { type: 'enabled', budget_tokens: 1024 } },
    /^tool_choice\.type: .*thinking/,
  ],
  [
    'a forced call with adaptive thinking',
    { tools, tool_choice: { type: 'tool', name: 'weather' }, thinking: { type: 'adaptive' } },
    /^tool_choice\.type: .*thinking/,
  ],
  ['a forced call without tools', { tool_choice: { type: 'any' } }, /^tool_choice: .*tools/],
  ['a choice among no tools', { tools: [], tool_choice: { type: 'auto' } }, /^tool_choice: .*tools/],
  ['no messages', { messages: [] }, /^messages: /],
  ['an empty message', { messages: [{ role: 'user', content: '' }] }, /^messages\.0\.content: .*empty/],
  [
    'a message without blocks',
    { messages: [{ role: 'user', content: [] }] },
    /^messages\.0\.content: .*empty/,
  ],
  [
    'a blank message',
    { messages: [{ role: 'user', content: ' \n' }] },
    /^messages\.0\.content: .*white space/,
  ],
  [
    'a blank block',
    { messages: [results(text('Hi.'), text(''))] },
    /^messages\.0\.content\.1\.text: .*white space/,
  ],
  ['a blank stop sequence', { stop_sequences: ['END', '\n'] }, /^stop_sequences\.1: .*white space/],
  ['a blank system prompt', { system: [text(' ')] }, /^system\.0\.text: .*white space/],
  [
    'a blank block in a result',
    { tools, messages: [question, call('a'), results(result('a', [text('')]))] },
    /^messages\.2\.content\.0\.content\.0\.text: .*white space/,
  ],
  ['a call without a result', { tools, messages: [question, call('a'), question] }, /^messages\.1: .*"a"/],
  ['a call at the end', { tools, messages: [question, call('a')] }, /^messages\.1: .*"a"/],
  [
    'one of two calls without a result',
    { tools, messages: [question, call('a', 'b'), results(result('a'))] },
    /^messages\.1: .*Without one: "b"\.$/,
  ],
  [
    'two calls with the same id',
    { tools, messages: [question, call('a', 'a'), results(result('a'))] },
    /^messages\.1\.content\.1\.id: .*unique/,
  ],
  [
    'a result after text',
    { tools, messages: [question, call('a'), results(text('Here:'), result('a'))] },
    /^messages\.1: .*start with/,
  ],
  [
    'a result of an earlier call',
    {
      tools,
      messages: [question, call('a'), results(result('a')), call('b'), results(result('b'), result('a'))],
    },
    /^messages\.4\.content\.1\.tool_use_id: .*"a"/,
  ],
  [
    'a result without a call',
    { messages: [results(result('a'))] },
    /^messages\.0\.content\.0\.tool_use_id: .*"a"/,
  ],
  [
    'a call by the user',
    { messages: [{ ...call('a'), role: 'user' }] },
    /^messages\.0\.content\.0: .*assistant/,
  ],
  [
    'a result by the model',
    { messages: [question, { ...results(result('a')), role: 'assistant' }] },
    /^messages\.1\.content\.0: .*user/,
  ],
];

const names: BackendName[] = ['simulator', 'openai', 'google', 'anthropic'];

describe.each(refused)('%s', (_name, added, message) => {
  test.each(names)('with %s', async (backend) => {
    const prompt = { model: backends.script(backend), messages: [question], ...added };
    for (const [path, json] of [
      ['/v1/messages', { max_tokens: 4096, ...prompt }],
      ['/v1/messages', { max_tokens: 4096, ...prompt, stream: true }],
      ['/v1/messages/count_tokens', prompt],
    ] as const) {
      const { status, body } = await post(path, json);
      expect([status, body]).toMatchObject([
        400,
        { type: 'error', error: { type: 'invalid_request_error', message: expect.stringMatching(message) } },
      ]);
    }
    if (backend !== 'simulator') expect(backends.bodiesOf(backend)).toEqual([]);
  });
});

/** Values that a newer version of the API may have. */
const newer: [string, Json, RegExp][] = [
  ['an unknown choice', { tools, tool_choice: { type: 'all' } }, /^tool_choice: .*Messages format/],
  ['an unknown role', { messages: [question, { role: 'critic', content: 'No.' }] }, /^messages\.1\.role: /],
  ['an unknown form', { output_config: { format: { type: 'grammar' } } }, /^output_config\.format\.type: /],
  ['an unknown block in the system prompt', { system: [{ type: 'memory', id: 'm' }] }, /^system\.0\.type: /],
  [
    'an unknown source of an image',
    { messages: [results({ type: 'image', source: { type: 's3', uri: 's3://x' } })] },
    /^messages\.0\.content\.0\.source\.type: /,
  ],
  [
    'an unknown source of a document in a result',
    {
      tools,
      messages: [
        question,
        call('a'),
        results(result('a', [{ type: 'document', source: { type: 's3', uri: 's3://x' } }])),
      ],
    },
    /^messages\.2\.content\.0\.content\.0\.source\.type: /,
  ],
];

const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const short = { cache_control: { type: 'ephemeral' } };
const thinking = { type: 'enabled', budget_tokens: 1024 };

/** What providers of the format judge themselves, as it may change with their API. */
const refusedElsewhere: [string, Json, RegExp][] = [
  ['a temperature with thinking', { thinking, temperature: 0.5 }, /^temperature: .*thinking/],
  [
    'a temperature with adaptive thinking',
    { thinking: { type: 'adaptive' }, temperature: 0 },
    /^temperature: .*thinking/,
  ],
  ['a low top_p with thinking', { thinking, top_p: 0.9 }, /^top_p: .*0\.95/],
  ['top_k with thinking', { thinking, top_k: 40 }, /^top_k: .*thinking/],
  [
    'five breakpoints of the cache',
    {
      tools: [{ ...tools[0], ...short }],
      system: [{ ...text('Be kind.'), ...short }],
      messages: [
        { role: 'user', content: [{ ...text('Oslo?'), ...short }] },
        call('a'),
        results({ ...result('a', [{ ...text('Rain.'), ...short }]), ...short }),
      ],
    },
    /^messages\.2\.content\.0\.cache_control: .*4 .*Found 5\.$/,
  ],
  [
    'four breakpoints and an automatic one',
    { ...short, system: [1, 2, 3, 4].map((at) => ({ ...text(`Rule ${at}.`), ...short })) },
    /^cache_control: .*Found 5\.$/,
  ],
  [
    'an unknown time to live',
    { system: [{ ...text('Be kind.'), cache_control: { type: 'ephemeral', ttl: '2h' } }] },
    /^system\.0\.cache_control\.ttl: .*5m or 1h/,
  ],
  ['an unknown kind of cache', { cache_control: { type: 'lasting' } }, /^cache_control\.type: .*ephemeral/],
  [
    'an hour after five minutes',
    {
      system: [{ ...text('Be kind.'), ...short }],
      messages: [{ role: 'user', content: [{ ...text('Hi.'), ...hour }] }],
    },
    /^messages\.0\.content\.0\.cache_control\.ttl: .*5m/,
  ],
  [
    'a breakpoint on a thought',
    {
      messages: [
        question,
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln', ...short }, text('Rain.')],
        },
        question,
      ],
    },
    /^messages\.1\.content\.0\.cache_control: /,
  ],
  [
    'a member of another format',
    { presence_penalty: 1 },
    /^presence_penalty: Extra inputs are not permitted/,
  ],
];

describe.each([...newer, ...refusedElsewhere])('%s', (_name, added, message) => {
  test.each(names)('with %s', async (backend) => {
    const model = backends.script(backend, { text: 'Hi.' }, { text: 'Hi.' });
    const prompt = { model, messages: [question], ...added };
    for (const [path, json] of [
      ['/v1/messages', { max_tokens: 4096, ...prompt }],
      ['/v1/messages', { max_tokens: 4096, ...prompt, stream: true }],
      ['/v1/messages/count_tokens', prompt],
    ] as const) {
      if (backend === 'anthropic') {
        const answer = await daemon.fetch(path, { json });
        await answer.text();
        continue;
      }
      const { status, body } = await post(path, json);
      // Requests that count tokens have no sampling options at all.
      const isExtra = path.endsWith('count_tokens') && /temperature|top_[kp]/.test(String(message));
      const expected = isExtra ? /^(temperature|top_p|top_k): Extra inputs are not permitted/ : message;
      expect([status, body]).toMatchObject([
        400,
        { type: 'error', error: { type: 'invalid_request_error', message: expect.stringMatching(expected) } },
      ]);
    }
    const sent = backend === 'anthropic' ? [added, added, added] : [];
    if (backend !== 'simulator') expect(backends.bodiesOf(backend)).toMatchObject(sent);
  });
});

test.each([
  ['max_tokens', 64],
  ['stream', true],
  ['stop_sequences', ['.']],
  ['metadata', { user_id: 'u' }],
])('tokens are counted without the option of calls %s', async (name, value) => {
  const { status, body } = await post('/v1/messages/count_tokens', {
    model: 'sim/assistant',
    messages: [question],
    [name]: value,
  });
  expect([status, body]).toMatchObject([
    400,
    { type: 'error', error: { message: `${name}: Extra inputs are not permitted.` } },
  ]);
});

describe.each([
  ['an unknown kind of thinking', { thinking: { type: 'always', budget_tokens: 1024 } }, 'thinking'],
  ['an unknown display of thoughts', { thinking: { type: 'adaptive', display: 'all' } }, null],
  ['an unknown member of the output', { output_config: { budget: 5 } }, 'output_config.budget'],
  ['an unknown effort', { output_config: { effort: 'extreme' } }, 'output_config.effort'],
])('%s, which only tunes the answer,', (_name, added, dropped) => {
  test.each(['anthropic', 'google', 'openai'] as const)(
    'does not keep %s from answering',
    async (backend) => {
      const model = backends.script(backend, { text: 'Hi.' });
      const json = { model, max_tokens: 4096, messages: [question], ...added };
      const answer = await daemon.fetch('/v1/messages', { json });
      expect(answer.status).toBe(200);
      if (backend === 'anthropic') expect(backends.lastBody(backend)).toMatchObject(added);
      else expect(answer.headers.get('x-service-dropped')).toBe(dropped);
    },
  );
});

test('an unknown member that may belong to a beta is left out and reported', async () => {
  const answer = await daemon.fetch('/v1/messages', {
    json: { model: 'sim/assistant', max_tokens: 64, messages: [question], new_context: { edits: [] } },
    headers: { 'anthropic-beta': 'new-context-2027-01-01' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-service-dropped')).toBe('new_context');
});

test('a budget of thoughts is less than the output limit, but for interleaved thoughts', async () => {
  const model = 'sim/assistant';
  const json = {
    model,
    max_tokens: 2048,
    messages: [question],
    thinking: { type: 'enabled', budget_tokens: 2048 },
  };
  expect(await post('/v1/messages', json)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringMatching(/^thinking\.budget_tokens: .*2048/) } },
  });
  const beta = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
  expect((await post('/v1/messages', json, beta)).status).toBe(200);
});

const accepted: [string, Json][] = [
  ['an answer to be continued', { messages: [question, { role: 'assistant', content: 'It is' }] }],
  ['an empty answer to be continued', { messages: [question, { role: 'assistant', content: '' }] }],
  ['an answer first', { messages: [{ role: 'assistant', content: 'Hello!' }, question] }],
  [
    'messages of one role in a row',
    {
      tools,
      messages: [
        question,
        question,
        call('a'),
        call('b'),
        results(result('a')),
        results(result('b'), text('And?')),
      ],
    },
  ],
  ['a result without content', { tools, messages: [question, call('a'), results(result('a', ''))] }],
  [
    'a system message in between',
    {
      tools,
      messages: [question, call('a'), results(result('a')), { role: 'system', content: 'Be brief.' }],
    },
  ],
  ['sampling that thinking allows', { thinking, max_tokens: 2048, temperature: 1, top_p: 0.95 }],
  [
    'four breakpoints of the cache, those for an hour first',
    {
      tools: [{ ...tools[0], ...hour }],
      system: [{ ...text('Be kind.'), ...hour }],
      messages: [{ role: 'user', content: [{ ...text('Hi.'), ...short }] }],
      ...short,
    },
  ],
  ['members of betas', { context_management: { edits: [] }, container: null, speed: 'standard' }],
  ['no choice of no tools', { tool_choice: { type: 'none' } }],
  [
    'an id that was used before',
    { tools, messages: [question, call('a'), results(result('a')), call('a'), results(result('a'))] },
  ],
];

test.each(accepted)('%s is accepted', async (_name, added) => {
  const { status, body } = await post('/v1/messages', {
    model: 'sim/assistant',
    max_tokens: 64,
    messages: [question],
    ...added,
  });
  expect([status, body]).toMatchObject([200, { type: 'message' }]);
});

test.each([
  ['streamed', true],
  ['whole', false],
])('an answer never contains blank text, which could not be sent back: %s', async (_name, stream) => {
  const model = backends.script('openai', { text: '\n\n', calls: [{ name: 'weather' }] });
  const answer = await fetch(`${daemon.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': daemon.key },
    body: JSON.stringify({ model, max_tokens: 64, messages: [question], tools, stream }),
  });
  const sent = await answer.text();
  expect(sent).toContain('tool_use');
  expect(sent).not.toContain('"type":"text"');
});
