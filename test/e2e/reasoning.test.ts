import { describe, expect, test } from 'vitest';
import {
  backend as backendOf,
  backendsForThisFile,
  type ProviderName,
  providerNames,
} from '../support/model-backends.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile();

const tools = [
  {
    type: 'function',
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const chatTools = tools.map(({ type, ...called }) => ({ type, function: called }));
const question = { role: 'user', content: 'What is the weather in Oslo?' };
const thought = 'Only the tool knows: Ωμέγα.';
const thinksAndCalls = { reasoning: thought, calls: [{ name: 'weather', input: { city: 'Oslo' } }] };
const reasoning = { effort: 'low', summary: 'auto' };

async function post(path: string, json: Json): Promise<Json> {
  const answer = await backends.daemon.fetch(path, { json });
  const body = (await answer.json()) as Json;
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return body;
}

const respond = (json: Json) => post('/v1/responses', json) as Promise<Json & { id: string; output: Json[] }>;

/** The same answer as a client that streams puts it together. */
async function respondStreamed(json: Json): Promise<Json & { id: string; output: Json[] }> {
  const answer = await backends.daemon.fetch('/v1/responses', { json: { ...json, stream: true } });
  const text = await answer.text();
  const data = /event: response\.completed\ndata: (.*)/.exec(text)?.[1];
  return JSON.parse(data ?? text).response;
}

function resultOf(output: Json[]): Json {
  const call = output.find(({ type }) => type === 'function_call');
  return { type: 'function_call_output', call_id: call?.call_id, output: 'rain' };
}

/** Ways for a client of the Responses format to continue: the second request, besides the tool's result. */
const continuations: Record<string, { first: Json; second: (first: Json & { output: Json[] }) => Json }> = {
  previous_response_id: {
    first: {},
    second: (first) => ({ previous_response_id: first.id, input: [resultOf(first.output)] }),
  },
  'item references': {
    first: {},
    second: ({ output }) => ({
      input: [question, ...output.map(({ id }) => ({ type: 'item_reference', id })), resultOf(output)],
    }),
  },
  'the whole history of a stored response': {
    first: {},
    second: ({ output }) => ({ input: [question, ...output, resultOf(output)] }),
  },
  'the whole history with sealed items': {
    first: { store: false, include: ['reasoning.encrypted_content'] },
    second: ({ output }) => ({ input: [question, ...output, resultOf(output)], store: false }),
  },
};

/** The second request carries the reasoning, before the call it led to. */
const expectThoughtAt = (backend: ProviderName) =>
  backendOf(backend).expectReasoning(backends.lastBody(backend), thought);

describe.each(providerNames)('reasoning from %s is sent back to it', (backend) => {
  test.each(Object.entries(continuations))('over %s', async (_name, { first, second }) => {
    for (const ask of [respond, respondStreamed]) {
      const model = backends.script(backend, thinksAndCalls, { text: 'It rains.' });
      const before = await ask({ model, tools, reasoning, input: [question], ...first });
      await respond({ model, tools, reasoning, ...second(before) });
      expectThoughtAt(backend);
    }
  });

  test('three turns later, over previous_response_id', async () => {
    const model = backends.script(backend, thinksAndCalls, { text: 'It rains.' }, { text: 'Still.' });
    const settings = { model, tools, reasoning };
    const first = await respond({ ...settings, input: [question] });
    const second = await respond({
      ...settings,
      previous_response_id: first.id,
      input: [resultOf(first.output)],
    });
    await respond({ ...settings, previous_response_id: second.id, input: 'And now?' });
    expectThoughtAt(backend);
  });

  test('over the reasoning_details of a chat', async () => {
    // In its own format the provider's own fields carry it.
    if (backend === 'openai') return;
    const model = backends.script(backend, thinksAndCalls, { text: 'It rains.' });
    const settings = { model, tools: chatTools, reasoning_effort: 'low' };
    const { choices } = await post('/v1/chat/completions', { ...settings, messages: [question] });
    const [{ message }] = choices as [{ message: Json & { tool_calls: { id: string }[] } }];
    await post('/v1/chat/completions', {
      ...settings,
      messages: [
        question,
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'rain' },
      ],
    });
    expectThoughtAt(backend);
  });

  test('and to no other provider', async () => {
    for (const [name, { first, second }] of Object.entries(continuations)) {
      const model = backends.script(backend, thinksAndCalls);
      const before = await respond({ model, tools, reasoning, input: [question], ...first });
      for (const other of providerNames.filter((each) => each !== backend)) {
        const elsewhere = backends.script(other, { text: 'It rains.' });
        const answer = await respond({ model: elsewhere, tools, ...second(before) });
        expect(answer.status, `${name} at ${other}`).toBe('completed');
        const sent = JSON.stringify(backends.lastBody(other));
        expect(sent).not.toContain('gws1.');
        expect(sent).not.toContain('sealed-by-fake');
        expect(sent).not.toContain('"signature"');
        expect(sent).not.toContain('reasoning_content');
        expect(sent).toContain('weather');
      }
    }
  });

  test('and to no other model of the provider', async () => {
    const model = backends.script(backend, thinksAndCalls);
    const before = await respond({ model, tools, reasoning, input: [question] });
    backends.script(backend, { text: 'It rains.' });
    await respond({
      model: backendOf(backend).otherModel,
      tools,
      previous_response_id: before.id,
      input: [resultOf(before.output)],
    });
    const sent = JSON.stringify(backends.lastBody(backend));
    expect(sent).not.toMatch(/sealed-by-fake|"signature"|reasoning_content/);
  });
});

describe('sealed reasoning', () => {
  test('that was tampered with is rejected, naming its position', async () => {
    const model = backends.script('anthropic', { reasoning: thought, text: 'Hello.' });
    const { output } = await respond({
      model,
      reasoning,
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [question],
    });
    const broken = output.map((item) =>
      typeof item.encrypted_content === 'string'
        ? { ...item, encrypted_content: `${item.encrypted_content.slice(0, -8)}AAAAAAAA` }
        : item,
    );
    const answer = await backends.daemon.fetch('/v1/responses', {
      json: { model, input: [question, ...broken] },
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request', code: 'invalid_request', param: 'input[1].encrypted_content' },
    });
  });

  test('that was tampered with is rejected in a chat, too', async () => {
    const model = backends.script('anthropic', { reasoning: thought, text: 'Hello.' });
    const { choices } = await post('/v1/chat/completions', {
      model,
      reasoning_effort: 'low',
      messages: [question],
    });
    const [{ message }] = choices as [{ message: Json & { reasoning_details: Json[] } }];
    const [detail] = message.reasoning_details;
    const reasoning_details = [{ ...detail, data: `${String(detail?.data).slice(0, -8)}AAAAAAAA` }];
    const answer = await backends.daemon.fetch('/v1/chat/completions', {
      json: { model, messages: [question, { ...message, reasoning_details }, question] },
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: 'invalid_request', param: 'messages[1].reasoning_details[0].data' },
    });
  });

  test('of redacted thoughts comes back unchanged', async () => {
    backends.anthropic.answer(
      { blocks: [{ redacted: 'ZW5jcnlwdGVk' }, { tool: 'weather', input: { city: 'Oslo' } }] },
      { blocks: [{ text: 'It rains.' }] },
    );
    const model = 'anthropic/claude-sonnet-4-5';
    const first = await respond({ model, tools, reasoning, input: [question] });
    expect(first.output[0]).toMatchObject({ type: 'reasoning', summary: [] });
    await respond({
      model,
      tools,
      reasoning,
      previous_response_id: first.id,
      input: [resultOf(first.output)],
    });
    const [, assistant] = backends.lastBody('anthropic').messages as { content: Json[] }[];
    expect(assistant?.content[0]).toEqual({ type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' });
  });

  test('is not returned when it was neither requested nor needed', async () => {
    const model = backends.script('anthropic', { reasoning: thought, text: 'Hello.' });
    const { id, output } = await respond({ model, reasoning, input: [question] });
    expect(JSON.stringify(output)).not.toContain('gws1.');
    const read = await backends.daemon.fetch(`/v1/responses/${id}`);
    expect(await read.text()).not.toContain('gws1.');
  });

  test('carries the signature of a text, too', async () => {
    const model = backends.script('google', { text: 'Hello.' }, { text: 'Again.' });
    const first = await respond({ model, input: [question] });
    await respond({ model, previous_response_id: first.id, input: 'Once more?' });
    const [, said] = backends.lastBody('google').contents as { parts: Json[] }[];
    expect(said?.parts).toEqual([{ text: 'Hello.', thoughtSignature: expect.stringMatching(/./) }]);
  });
});
