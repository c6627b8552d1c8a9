import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import {
  backendsForThisFile,
  openAiAs,
  type ProviderName,
  providerNames,
} from '../support/model-backends.ts';

const backends = await backendsForThisFile();
const client = openAiAs(backends.daemon);

const service = { cache: 'read-write' };

/** How often a provider was asked in this test. */
const askedOf = (provider: ProviderName) => backends.bodiesOf(provider).length;

async function respond(body: object) {
  const { data, response } = await client.responses.create({ service, ...body } as never).withResponse();
  return {
    data: data as OpenAI.Responses.Response,
    cache: response.headers.get('x-service-cache'),
    response,
  };
}

async function streamed(body: object) {
  const { data, response } = await client.responses
    .create({ service, stream: true, ...body } as never)
    .withResponse();
  let text = '';
  let id = '';
  for await (const event of data as unknown as AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) {
    if (event.type === 'response.output_text.delta') text += event.delta;
    if (event.type === 'response.completed') id = event.response.id;
  }
  return { text, id, cache: response.headers.get('x-service-cache') };
}

async function usageOf(requestId: string | null) {
  const answer = await backends.daemon.fetch(`/v1/usage/${requestId}`);
  return (await answer.json()) as { charged_usd: string; provider: string; tokens: { output: number } };
}

describe.each(providerNames)('a cached answer of %s', (backend) => {
  test('serves JSON and streams from one entry, with new ids and at no charge', async () => {
    const model = backends.script(backend, { text: 'Good morning to all of you!' });
    const input = `Say good morning (${backend}).`;
    const first = await respond({ model, input });
    const again = await respond({ model, input });
    const stream = await streamed({ model, input });

    expect([first.cache, again.cache, stream.cache]).toEqual(['miss', 'hit', 'hit']);
    expect(askedOf(backend)).toBe(1);
    expect(again.data.output_text).toBe(first.data.output_text);
    expect(stream.text).toBe(first.data.output_text);
    expect(new Set([first.data.id, again.data.id, stream.id]).size).toBe(3);
    expect(again.data.usage?.output_tokens).toBe(first.data.usage?.output_tokens);

    expect(again.response.headers.get('x-service-upstream')).toBe('cache');
    const usage = await usageOf(again.response.headers.get('x-request-id'));
    expect(usage).toMatchObject({ provider: 'cache', charged_usd: '0' });
    expect(usage.tokens.output).toBe(first.data.usage?.output_tokens);
    // It is stored like any other.
    expect((await client.responses.retrieve(again.data.id)).output_text).toBe(first.data.output_text);
  });

  test('of a stream with tool calls is stored separately per format', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
    const model = backends.script(backend, { calls: [{ name: 'weather', input: { city: 'Oslo' } }] });
    const body = { model, tools, service, messages: [{ role: 'user', content: `Weather? (${backend})` }] };
    const runner = client.chat.completions.stream(body as never);
    const first = await runner.finalChatCompletion();
    const { data, response } = await client.chat.completions.create(body as never).withResponse();
    const again = data as OpenAI.ChatCompletion;
    expect(response.headers.get('x-service-cache')).toBe('hit');
    expect(askedOf(backend)).toBe(1);
    const callsOf = ({ choices: [choice] }: OpenAI.ChatCompletion) =>
      choice?.message.tool_calls?.map((call) =>
        call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [],
      );
    expect(callsOf(again)).toEqual(callsOf(first));
    expect(callsOf(again)).toHaveLength(1);
    expect(again.choices[0]?.finish_reason).toBe('tool_calls');
  });
});

describe('the cache', () => {
  test('is unused unless requested', async () => {
    const model = backends.script('openai', { text: 'One.' }, { text: 'Two.' });
    const off = { service: { cache: 'off' }, model, input: 'Off?' };
    expect((await respond(off)).cache).toBeNull();
    expect((await respond({ ...off, service: undefined })).cache).toBeNull();
    expect(askedOf('openai')).toBe(2);
  });

  test('stores nothing for a read-only call', async () => {
    const model = backends.script('openai', { text: 'One.' }, { text: 'Two.' });
    const body = { model, input: 'Read only?', service: { cache: 'read-only' } };
    expect((await respond(body)).cache).toBe('miss');
    expect((await respond(body)).cache).toBe('miss');
  });

  test('distinguishes requests by everything that changes the answer', async () => {
    const model = backends.script('openai', { text: 'x' });
    const body = { model, input: 'Apart?' };
    await respond(body);
    for (const other of [
      { temperature: 0.5 },
      { instructions: 'Be brief.' },
      { input: 'Apart!' },
      { max_output_tokens: 500 },
      { tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }] },
    ]) {
      expect((await respond({ ...body, ...other })).cache, JSON.stringify(other)).toBe('miss');
    }
    expect((await respond({ ...body, metadata: { a: 'b' }, store: false })).cache).toBe('hit');
  });

  test('finds a continued conversation by its content, whatever its ids', async () => {
    const ask = async () => {
      const model = backends.script('anthropic', { text: 'I am Ada.' });
      const first = await respond({ model, input: 'Who are you?', service: { cache: 'off' } });
      const continued = { model, input: 'Again?', previous_response_id: first.data.id };
      return await respond(continued);
    };
    expect((await ask()).cache).toBe('miss');
    expect((await ask()).cache).toBe('hit');
  });

  test('stores no incomplete answer', async () => {
    const body = { input: 'Long?', model: backends.script('openai', { text: 'Lorem', finish: 'length' }) };
    expect((await respond(body)).cache).toBe('miss');
    expect((await respond(body)).cache).toBe('miss');
  });

  test('is counted and cleared by admins of the workspace', async () => {
    const body = { model: backends.script('openai', { text: 'One.' }, { text: 'Two.' }), input: 'Clear?' };
    await respond(body);
    const headers = { authorization: `Bearer ${backends.daemon.login}` };
    const at = '/v1/workspaces/me/cache';
    const full = (await (await backends.daemon.fetch(at, { headers })).json()) as {
      entries: number;
      bytes: number;
    };
    expect(full.entries).toBeGreaterThan(0);
    expect(full.bytes).toBeGreaterThan(0);
    const cleared = await backends.daemon.fetch(at, { method: 'DELETE', headers });
    expect(await cleared.json()).toEqual({ object: 'cache', removed: full.entries });
    expect((await respond(body)).cache).toBe('miss');
  });

  test('stores no prompt in the database', async () => {
    const canary = 'prompt-canary-7f3a';
    const body = { model: backends.script('openai', { text: 'One.' }), input: canary, store: false };
    await respond(body);
    expect((await respond(body)).cache).toBe('hit');
    const files = (await readdir(backends.daemon.home)).filter((name) => name.startsWith('gateway.db'));
    expect(files).toContain('gateway.db');
    for (const name of files)
      expect((await readFile(join(backends.daemon.home, name))).includes(canary), name).toBe(false);
  });

  test('answers 20 simultaneous equal calls and stores one answer', async () => {
    const body = { model: backends.script('openai', {}), input: 'All at once?' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => respond(body)));
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(20);
    const asked = askedOf('openai');
    expect((await respond(body)).cache).toBe('hit');
    expect(askedOf('openai')).toBe(asked);
  });
});
