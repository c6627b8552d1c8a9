import { describe, expect, test } from 'vitest';
import type { Backend } from '../support/backends/backend.ts';
import {
  backendNames,
  backend as backendOf,
  backendsForThisFile,
  type ScriptedReply,
} from '../support/model-backends.ts';
import { postForChunks } from '../support/raw-chunks.ts';
import { checkResponse, checkResponsesStream } from '../support/responses-check.ts';

const backends = await backendsForThisFile();

const tool = (name: string) => ({
  type: 'function',
  name,
  description: `Tells the ${name}.`,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
});
const tools = [tool('weather'), tool('clock')];
const hello = { input: 'Say hello.' };
const both = { input: 'Use both tools, weather and clock, in parallel.', tools };

interface Case {
  name: string;
  reply: ScriptedReply;
  body: Record<string, unknown>;
  /** What the answer must hold: types of items, in order. */
  items: string[];
  status?: string;
  reason?: string;
  /** By default all: a provider's format may be unable to express it. */
  from?: (backend: Backend) => boolean;
}

/** The simulator answers by rules of its own. */
const isScripted = (backend: Backend) => backend !== backendOf('simulator');

const cases: Case[] = [
  {
    name: 'text',
    reply: { text: 'Hello there, and good morning to you!' },
    body: hello,
    items: ['message'],
  },
  {
    name: 'a tool call',
    reply: { calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
    body: { ...both, input: 'Use the weather tool.', tool_choice: 'required' },
    items: ['function_call'],
  },
  {
    name: 'parallel tool calls',
    reply: {
      calls: [
        { name: 'weather', input: { city: 'Oslo' } },
        { name: 'clock', input: { city: 'Rome' } },
      ],
    },
    body: both,
    items: ['function_call', 'function_call'],
  },
  {
    name: 'parallel tool calls whose pieces mingle',
    reply: {
      calls: [
        { name: 'weather', input: { city: 'Oslo' } },
        { name: 'clock', input: { city: 'Rome' } },
      ],
      interleaved: true,
    },
    body: both,
    items: ['function_call', 'function_call'],
  },
  {
    name: 'a tool call without arguments',
    reply: { calls: [{ name: 'now' }] },
    body: { input: 'Use now.', tools: [{ type: 'function', name: 'now', parameters: null, strict: null }] },
    items: ['function_call'],
  },
  {
    name: 'text before a tool call',
    reply: { text: 'I shall look.', calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
    body: both,
    items: ['message', 'function_call'],
    from: isScripted,
  },
  {
    name: 'reasoning and text',
    reply: { reasoning: 'The user is to be greeted.', text: 'Hello!' },
    body: { ...hello, reasoning: { effort: 'high', summary: 'auto' } },
    items: ['reasoning', 'message'],
  },
  {
    name: 'reasoning that is shown sealed',
    reply: { reasoning: 'The user is to be greeted.', text: 'Hello!' },
    body: {
      ...hello,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      store: false,
    },
    items: ['reasoning', 'message'],
  },
  {
    name: 'structured output',
    reply: { text: '{"answer":"yes"}' },
    body: {
      input: 'Is it?',
      text: {
        format: {
          type: 'json_schema',
          name: 'verdict',
          schema: {
            type: 'object',
            properties: { answer: { type: 'string' } },
            required: ['answer'],
            additionalProperties: false,
          },
          strict: true,
        },
      },
    },
    items: ['message'],
  },
  {
    name: 'a refusal',
    reply: { refusal: 'I would rather not.' },
    body: hello,
    items: ['message'],
    from: ({ refusal }) => refusal === 'message',
  },
  {
    name: 'a refusal that ends the answer',
    reply: { refusal: 'I would rather not.' },
    body: hello,
    items: ['message'],
    status: 'incomplete',
    reason: 'content_filter',
    from: ({ refusal }) => refusal === 'ending',
  },
  {
    name: 'a prompt that is blocked',
    reply: { refusal: 'I would rather not.' },
    body: hello,
    items: [],
    status: 'incomplete',
    reason: 'content_filter',
    from: ({ refusal }) => refusal === 'blocked',
  },
  {
    name: 'text that a filter stopped',
    reply: { text: 'It all began when', finish: 'content_filter' },
    body: hello,
    items: ['message'],
    status: 'incomplete',
    reason: 'content_filter',
  },
  {
    name: 'text that was cut at the limit',
    reply: { text: 'It all began when the', finish: 'length' },
    body: { input: 'Write 300 words.', max_output_tokens: 16 },
    items: ['message'],
    status: 'incomplete',
    reason: 'max_output_tokens',
  },
  {
    name: 'a tool call that was cut at the limit',
    reply: { calls: [{ name: 'weather', input: { city: 'Oslo' } }], finish: 'length' },
    body: { ...both, input: 'Use weather.', max_output_tokens: 16 },
    items: ['function_call'],
    status: 'incomplete',
    reason: 'max_output_tokens',
    from: isScripted,
  },
];

async function stream(body: Record<string, unknown>, headers: Record<string, string> = {}) {
  const { daemon } = backends;
  const answer = await postForChunks(`${daemon.url}/v1/responses`, {
    headers: { authorization: `Bearer ${daemon.key}`, ...headers },
    json: { ...body, stream: true },
  });
  expect(answer.status, answer.chunks.join('')).toBe(200);
  expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  return answer;
}

describe.each(backendNames)('an answer from %s', (backend) => {
  const possible = cases.filter(({ from }) => from?.(backendOf(backend)) ?? true);

  test.each(possible)('follows the format as a stream: $name', async (each) => {
    const model = backends.script(backend, each.reply);
    const { chunks } = await stream({ ...each.body, model });
    const response = checkResponsesStream(chunks);
    expectOutcome(response, each);
  });

  test.each(possible)('follows the format as JSON: $name', async (each) => {
    const model = backends.script(backend, each.reply);
    const answer = await backends.daemon.fetch('/v1/responses', { json: { ...each.body, model } });
    expect(answer.status).toBe(200);
    expectOutcome(checkResponse(await answer.json()), each);
  });

  test('is cut when its provider ignores the limit', async () => {
    const endless = { text: 'On and on it went. '.repeat(300), breaks: 'stall', breaksAfter: 400 } as const;
    const model = backend === 'simulator' ? backends.script(backend) : backends.script(backend, endless);
    const { chunks } = await stream({ input: 'Write 3000 words.', model, max_output_tokens: 16 });
    const response = checkResponsesStream(chunks);
    expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    expect(response.output[0]).toMatchObject({ type: 'message', status: 'incomplete' });
  });

  test.each(['cut', 'error'] as const)('reports a failure after the start: %s', async (breaks) => {
    const model = backends.script(backend, { text: 'It all began when the moon was new and', breaks });
    const { chunks } = await stream({ ...hello, model });
    const response = checkResponsesStream(chunks);
    expect(response.status).toBe('failed');
    expect(response.error?.code).toBe(breaks === 'cut' ? 'upstream_failed' : backendOf(backend).brokenCode);
    expect(response.output[0]).toMatchObject({ type: 'message', status: 'incomplete' });
  });
});

function expectOutcome(
  { status, incomplete_details, output, usage }: ReturnType<typeof checkResponse>,
  { items, status: expected = 'completed', reason, body }: Case,
): void {
  expect({ status, reason: incomplete_details?.reason }).toEqual({ status: expected, reason });
  // A reasoning item without a summary carries what a provider wants back; its position depends on the provider.
  const reported = output.filter((item) => item.type !== 'reasoning' || item.summary.length > 0);
  expect(reported.map(({ type }) => type)).toEqual(items);
  expect(usage?.input_tokens).toBeGreaterThan(0);
  if (body.include) expect(output.some((item) => 'encrypted_content' in item)).toBe(true);
}

describe('the gateway’s own events', () => {
  test.each([
    ['the request asks for none', { service: { events: false } }, {}],
    ['the client cannot take them', {}, { 'x-stainless-helper-method': 'stream' }],
  ])('are omitted when %s', async (_why, body, headers) => {
    const { chunks } = await stream({ model: 'sim/assistant', ...hello, ...body }, headers);
    checkResponsesStream(chunks);
    expect(chunks.join('')).not.toContain('event: service:');
  });

  test('report route and cost, with the request id of the answer', async () => {
    const { chunks, headers } = await stream({ model: 'sim/assistant', ...hello });
    const text = chunks.join('');
    checkResponsesStream(chunks);
    for (const name of ['service:route', 'service:cost']) {
      const data = new RegExp(`event: ${name}\\ndata: (.*)`).exec(text)?.[1] ?? '{}';
      expect(JSON.parse(data).request_id).toBe(headers['x-request-id']);
    }
  });
});
