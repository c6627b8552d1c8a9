import { describe, expect, test } from 'vitest';
import { backendsForThisFile, type ProviderName } from '../support/model-backends.ts';

type Json = Record<string, unknown>;

/**
 * A provider names the field that it rejects in its own request. In each test the provider's path of a part is looked up in
 * a request that it was sent, and the caller has to get the path of the same part in the request that it sent itself.
 */
const backends = await backendsForThisFile();
const { daemon } = backends;

/** A picture's base64, which starts like a PNG and is unlike that of others. */
const pixel = (name: string) => Buffer.from(`\x89PNG\r\n\x1a\n picture ${name}`, 'latin1').toString('base64');
const dataUrl = (name: string) => `data:image/png;base64,${pixel(name)}`;
const weather = { type: 'object', properties: { city: { type: 'string' } } };

interface Conversation {
  path: string;
  body: Json;
  /** Contents of the conversation, and the caller's path of each. */
  parts: Record<string, string>;
}

const conversations: Record<string, Conversation> = {
  responses: {
    path: '/v1/responses',
    body: {
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'input_text', text: 'First.' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Second.' },
            { type: 'input_image', image_url: dataUrl('one') },
          ],
        },
        { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"city":"Rome"}' },
        { type: 'function_call_output', call_id: 'c2', output: 'Sun.' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'Rain.' }] },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Take a coat.' }] },
        { role: 'user', content: 'Why?' },
        { role: 'user', content: [{ type: 'input_image', image_url: dataUrl('two') }] },
      ],
      tools: [
        { type: 'web_search' },
        { type: 'function', name: 'clock', description: 'Tells the time.' },
        { type: 'function', name: 'weather', description: 'Tells the weather.', parameters: weather },
      ],
    },
    parts: {
      'Be brief.': 'instructions',
      'Be kind.': 'input[0].content',
      'First.': 'input[1].content[0].text',
      'Second.': 'input[2].content[0].text',
      [pixel('one')]: 'input[2].content[1].image_url',
      Oslo: 'input[3].arguments',
      Rome: 'input[4].arguments',
      'Sun.': 'input[5].output',
      'Rain.': 'input[6].output[0].text',
      'Take a coat.': 'input[7].content[0].text',
      'Why?': 'input[8].content',
      [pixel('two')]: 'input[9].content[0].image_url',
      'Tells the weather.': 'tools[2].description',
    },
  },
  chat: {
    path: '/v1/chat/completions',
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'First.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Second.' },
            { type: 'image_url', image_url: { url: dataUrl('one') } },
          ],
        },
        {
          role: 'assistant',
          reasoning_content: 'Let me look.',
          content: 'A moment.',
          tool_calls: ['Oslo', 'Rome'].map((city) => ({
            id: city.toLowerCase(),
            type: 'function',
            function: { name: 'weather', arguments: JSON.stringify({ city }) },
          })),
        },
        { role: 'tool', tool_call_id: 'rome', content: 'Sun.' },
        { role: 'tool', tool_call_id: 'oslo', content: [{ type: 'text', text: 'Rain.' }] },
        { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: dataUrl('two') } }] },
      ],
      tools: [
        { type: 'function', function: { name: 'clock', description: 'Tells the time.' } },
        {
          type: 'function',
          function: { name: 'weather', description: 'Tells the weather.', parameters: weather },
        },
      ],
    },
    parts: {
      'Be brief.': 'messages[0].content',
      'First.': 'messages[1].content',
      'Second.': 'messages[2].content[0].text',
      [pixel('one')]: 'messages[2].content[1].image_url.url',
      'A moment.': 'messages[3].content',
      Oslo: 'messages[3].tool_calls[0].function.arguments',
      Rome: 'messages[3].tool_calls[1].function.arguments',
      'Sun.': 'messages[4].content',
      'Rain.': 'messages[5].content[0].text',
      'Why?': 'messages[6].content[0].text',
      [pixel('two')]: 'messages[7].content[0].image_url.url',
      'Tells the weather.': 'tools[1].function.description',
    },
  },
  messages: {
    path: '/v1/messages',
    body: {
      max_tokens: 100,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'First.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Second.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel('one') } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A moment.' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'Sun.' },
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Rain.' }] },
            { type: 'text', text: 'Why?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel('two') } },
          ],
        },
      ],
      tools: [
        { name: 'clock', description: 'Tells the time.', input_schema: { type: 'object' } },
        { name: 'weather', description: 'Tells the weather.', input_schema: weather },
      ],
    },
    parts: {
      'Be brief.': 'system',
      'First.': 'messages[0].content',
      'Second.': 'messages[1].content[0].text',
      [pixel('one')]: 'messages[1].content[1].source.data',
      'A moment.': 'messages[2].content[0].text',
      Oslo: 'messages[2].content[1].input',
      Rome: 'messages[2].content[2].input',
      'Sun.': 'messages[3].content[0].content',
      'Rain.': 'messages[3].content[1].content[0].text',
      'Why?': 'messages[3].content[2].text',
      [pixel('two')]: 'messages[3].content[3].source.data',
      'Tells the weather.': 'tools[1].description',
    },
  },
};

type Steps = readonly (string | number)[];

/** The way to the first text that contains a part of the conversation. */
function stepsTo(part: string, value: unknown): Steps | undefined {
  if (typeof value === 'string') return value.includes(part) ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const steps = stepsTo(part, member);
    if (steps !== undefined) return [Array.isArray(value) ? Number(name) : name, ...steps];
  }
  return undefined;
}

const bracketed = (steps: Steps) =>
  steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);

/** What each provider says of a field. The Messages API adds the types of blocks, and the Gemini API has snake case. */
const rejections: Record<string, (steps: Steps) => { param?: string; message: string }> = {
  openai: (steps) => ({ param: bracketed(steps), message: `Invalid value in ${bracketed(steps)}.` }),
  anthropic: (steps) => ({
    message: `${steps.map((step) => (step === 'source' ? 'image.source' : step)).join('.')}: Invalid value.`,
  }),
  google: (steps) => ({
    message: `Invalid value at '${bracketed(steps).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}' (TYPE).`,
  }),
};

async function send({ path, body }: Pick<Conversation, 'path' | 'body'>, model: string) {
  const answer = await daemon.fetch(path, { method: 'POST', json: { ...body, model } });
  const { error } = (await answer.json()) as { error?: Json };
  const details = (error?.details ?? error) as Json | undefined;
  return { status: answer.status, param: details?.param, message: String(error?.message) };
}

const wires = ['responses-only', 'chat-only', 'anthropic', 'google'] as const;
const combinations = Object.keys(conversations).flatMap((caller) =>
  wires.map((wire) => [caller, wire] as const),
);

const joined = new Set(['Be brief.', 'Be kind.']);

describe.each(combinations)('%s: the field that a provider rejects (%s)', (caller, wire) => {
  const conversation = conversations[caller] as Conversation;
  const isRelayed =
    caller === 'messages'
      ? wire === 'anthropic'
      : wire === `${caller === 'chat' ? 'chat' : 'responses'}-only`;

  test('is the one that the caller sent', async () => {
    await send(conversation, backends.script(wire, { text: 'Because.' }));
    const sent = backends.lastBody(wire);
    const reported: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [part, path] of Object.entries(conversation.parts)) {
      const steps = stepsTo(part, sent);
      // Not every format can express every part.
      if (steps === undefined) continue;
      const rejection = rejections[wire.replace(/^(responses|chat)-only$/, 'openai')]?.(steps) ?? {
        message: '',
      };
      const { status, param, message } = await send(conversation, refused(wire, rejection));
      expect(status).toBe(400);
      // Only a provider with the caller's format can name a member of a call's arguments.
      reported[part] = isRelayed ? String(param).replace(/\.city$/, '') : param;
      // Instructions that become one message have one name.
      expected[part] = wire === 'chat-only' && joined.has(part) && caller === 'responses' ? 'input' : path;
      if (!isRelayed && steps.length > 1) expect(message).not.toContain(bracketed(steps));
    }
    expect(reported).toEqual(expected);
    expect(Object.keys(expected).length).toBeGreaterThan(10);
  });
});

function refused(wire: ProviderName, rejection: { param?: string; message: string }): string {
  return backends.refuse(wire, { status: 400, ...rejection });
}

/** A path in the provider's request, and the caller's. */
const places: [string, ProviderName, string, string][] = [
  ['responses', 'anthropic', 'messages.0.content.2', 'input[2].content[1]'],
  ['responses', 'anthropic', 'messages.1.content.0.tool_use.id', 'input[3]'],
  ['responses', 'anthropic', 'messages.2.content.0.tool_result.tool_use_id', 'input[6]'],
  ['responses', 'anthropic', 'tools.1.custom.input_schema.properties', 'tools[2].parameters.properties'],
  ['responses', 'chat-only', 'messages[2].tool_calls[1].id', 'input[4]'],
  ['responses', 'chat-only', 'tools[1].function.parameters', 'tools[2].parameters'],
  ['responses', 'google', 'contents[1].parts[1].function_call', 'input[4].arguments'],
  ['responses', 'google', 'tools[0].function_declarations[1]', 'tools[2]'],
  ['chat', 'anthropic', 'system.0', 'messages[0].content'],
  ['chat', 'anthropic', 'tools.1.custom.input_schema', 'tools[1].function.parameters'],
  ['chat', 'responses-only', 'input[4].call_id', 'messages[3].tool_calls[0]'],
  ['messages', 'chat-only', 'messages[2].tool_calls[0].function.name', 'messages[2].content[1]'],
  ['messages', 'google', 'contents[2].parts[1].function_response.id', 'messages[3].content[0]'],
  ['messages', 'anthropic', 'messages.2.content.1.tool_use.id', 'messages[2].content[1].tool_use.id'],
];

test.each(places)('%s: what %s calls %s is %s', async (caller, wire, place, expected) => {
  const rejection = { param: place, message: `${place}: Invalid value at '${place}'.` };
  const { param } = await send(conversations[caller] as Conversation, refused(wire, rejection));
  expect(param).toBe(expected);
});

test.each<[string, ProviderName, string]>([
  ['a turn that several messages became', 'anthropic', 'messages.0'],
  ['a turn that the provider does not have', 'google', 'contents[9]'],
])('%s has no position', async (_what, wire, place) => {
  const rejection = { message: `${place}: Invalid value at '${place}'.` };
  const { param } = await send(conversations.responses as Conversation, refused(wire, rejection));
  expect(param).toBe('input');
});

test.each([
  ['responses', "Missing required parameter: 'input'."],
  ['chat', "Missing required parameter: 'messages'."],
])('%s: a sentence that quotes the messages as a whole says %s', async (caller, expected) => {
  const rejection = { param: 'messages', message: "Missing required parameter: 'messages'." };
  const { message } = await send(conversations[caller] as Conversation, refused('chat-only', rejection));
  expect(message).toBe(expected);
});

test('a file that a provider does not accept is named', async () => {
  const content = [
    { type: 'text', text: 'Read this.' },
    { type: 'file', file: { filename: 'a.zip', file_data: 'data:application/zip;base64,UEsDBA==' } },
  ];
  const body = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content },
    ],
  };
  const answer = await send({ path: '/v1/chat/completions', body }, backends.script('anthropic'));
  expect(answer).toMatchObject({ status: 400, param: 'messages[1].content[1]' });
});

test('counting tokens names the field of the caller', async () => {
  const rejection = { message: 'messages.1.content.1.image.source.base64: Invalid value.' };
  const { path, body } = conversations.messages as Conversation;
  const { max_tokens: _max, ...counted } = body;
  const answer = await send({ path: `${path}/count_tokens`, body: counted }, refused('anthropic', rejection));
  expect(answer).toMatchObject({ status: 400, param: 'messages[1].content[1].image.source.base64' });
});

test.each<[ProviderName, string, string]>([
  ['chat-only', 'messages[2].content', 'messages[0].content'],
  ['chat-only', 'messages[1].content', 'messages'],
  ['anthropic', 'messages.2.content.0.text', 'messages[0].content'],
  ['anthropic', 'messages.0.content.0.text', 'messages'],
])('in a thread, what %s calls %s is %s', async (wire, place, expected) => {
  const headers = { authorization: `Bearer ${daemon.login}` };
  const made = await daemon.fetch('/v1/threads', { method: 'POST', json: {}, headers });
  const { thread } = (await made.json()) as { thread: { id: string } };
  const say = async (content: string, model: string) => {
    const json = { model, messages: [{ role: 'user', content }], service: { thread: thread.id } };
    const answer = await daemon.fetch('/v1/chat/completions', { method: 'POST', json, headers });
    return { status: answer.status, body: (await answer.json()) as { error?: Json } };
  };
  expect((await say('Hello.', backends.script(wire, { text: 'Hello!' }))).status).toBe(200);
  const { body } = await say('Why?', refused(wire, { param: place, message: `${place}: Invalid value.` }));
  expect(body.error?.param).toBe(expected);
  expect(String(body.error?.message)).toContain(`${expected}: Invalid value.`);
});
