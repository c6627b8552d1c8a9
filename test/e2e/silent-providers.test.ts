import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import { answers, bytesOf, eventsOf, hangs, says, words } from '../support/chaos-behaviours.ts';
import { allFormatPairs, startChaosDaemon } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, parseStream } from '../support/model-client.ts';
import { chunk, chunkedHead } from '../support/raw-server.ts';

/** Streams whose provider says nothing for long: they start without an answer, so that no proxy cuts them. */
const on = await startChaosDaemon('timeouts: {silent_start_ms: 40}');
const { url, key } = on.daemon;
afterAll(async () => {
  const { faults } = await on.waitUntilIdle();
  expect(faults).toEqual([]);
  await on.close();
});

/** A provider that is silent until `speak` is called. */
function silent(then: Behaviour) {
  const { promise, resolve: speak } = Promise.withResolvers<void>();
  const behaviour: Behaviour = (call) => void promise.then(() => then(call));
  return { behaviour, speak };
}

const signOfLife = (wire: Wire) => (wire === 'messages' ? 'event: ping' : ': keep-alive');

describe.each(allFormatPairs)('a silent stream, $name', ({ wire, upstream }) => {
  test('starts with headers and a sign of life, and gets its answer', async () => {
    const { behaviour, speak } = silent(answers());
    const model = on.chaos.addModel(upstream, behaviour);
    const answer = callModel(on.daemon, { wire, model, stream: true });
    await answer.receives(signOfLife(wire));
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': expect.stringMatching(/^req_/),
      'x-service-model': model,
      'x-service-upstream': upstream,
    });
    speak();
    expect(await answer.ended).toBe('end');
    expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [] });
    expect(await on.waitForUsage(model)).toMatchObject({ status: 'completed' });
  });

  test('whose provider fails gets its answer from the next one', async () => {
    const { behaviour, speak } = silent(says(503));
    const model = on.chaos.addModel(upstream, behaviour);
    const spare = on.chaos.addModel('spare', answers({ text: 'From the spare.' }));
    const more = { service: { fallbacks: [spare] } };
    const answer = callModel(on.daemon, { wire, model, stream: true, more });
    await answer.receives(signOfLife(wire));
    // The model is not certain yet.
    expect(answer.headers['x-service-model']).toBeUndefined();
    speak();
    await answer.ended;
    expect(parseStream(answer.text)).toMatchObject({ text: 'From the spare.', errors: [] });
  });

  test('that no provider answers ends with the error of its format, and costs nothing', async () => {
    const { behaviour, speak } = silent(says(503));
    const model = on.chaos.addModel(upstream, behaviour);
    const answer = callModel(on.daemon, { wire, model, stream: true });
    await answer.receives(signOfLife(wire));
    speak();
    expect(await answer.ended).toBe('end');
    const { errors, text } = parseStream(answer.text);
    expect({ errors: errors.length, text }, answer.text).toEqual({ errors: 1, text: '' });
    expect(await on.waitForUsage(model)).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_failed',
      charged: 0,
    });
  });

  test('whose client leaves ends the call', async () => {
    const model = on.chaos.addModel(upstream, hangs());
    const answer = callModel(on.daemon, { wire, model, stream: true });
    await answer.receives(signOfLife(wire));
    answer.disconnect();
    expect(await on.waitForUsage(model)).toMatchObject({ status: 'canceled' });
    const [, name = ''] = model.split('/');
    await eventually('the provider is left', () => on.chaos.callsOf(name)[0]?.isClosed);
  });
});

test('a provider whose first events have nothing to show is silent, too', async () => {
  const { promise, resolve: speak } = Promise.withResolvers<void>();
  const model = on.chaos.addModel('responses', (call) => {
    const [first = '', ...others] = eventsOf(call);
    call.socket.write(chunkedHead() + chunk(first));
    void promise.then(() => call.socket.end(`${others.map(chunk).join('')}0\r\n\r\n`));
    call.isAnswered = true;
  });
  const answer = callModel(on.daemon, { wire: 'chat', model, stream: true });
  await answer.receives(signOfLife('chat'));
  speak();
  await answer.ended;
  expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [] });
});

test('a response that failed after its silence is stored', async () => {
  const { behaviour, speak } = silent(says(503));
  const model = on.chaos.addModel('responses', behaviour);
  const answer = callModel(on.daemon, { wire: 'responses', model, stream: true, more: { store: true } });
  await answer.receives(signOfLife('responses'));
  speak();
  await answer.ended;
  const [, id] = /"id":"(resp_\w+)"/.exec(answer.text) ?? [];
  const stored = await on.daemon.fetch(`/v1/responses/${id}`);
  expect(await stored.json()).toMatchObject({ id, status: 'failed', output: [] });
});

test('a thread is free again after a silence that ends in a failure', async () => {
  const made = await on.daemon.fetch('/v1/threads', { method: 'POST', json: {} });
  const { id: thread } = (await made.json()) as { id: string };
  const more = { service: { thread } };
  const { behaviour, speak } = silent(says(503));
  const model = on.chaos.addModel('responses', behaviour);
  const answer = callModel(on.daemon, { wire: 'responses', model, stream: true, more });
  await answer.receives(signOfLife('responses'));
  speak();
  await answer.ended;
  const next = on.chaos.addModel('responses', answers());
  const again = callModel(on.daemon, { wire: 'responses', model: next, stream: true, more });
  await again.ended;
  expect(parseStream(again.text)).toMatchObject({ text: words, errors: [] });
});

test('without a stream, the status waits for the answer', async () => {
  const { behaviour, speak } = silent(says(400, { body: '{"error":{"message":"No."}}' }));
  const model = on.chaos.addModel('chat', behaviour);
  const answer = callModel(on.daemon, { wire: 'chat', model, stream: false });
  const silentOne = callModel(on.daemon, {
    wire: 'chat',
    model: on.chaos.addModel('chat', hangs()),
    stream: true,
  });
  await silentOne.receives(signOfLife('chat'));
  silentOne.disconnect();
  expect(answer.status).toBe(0);
  speak();
  await answer.ended;
  expect(answer.status).toBe(400);
});

describe('real clients', () => {
  /** A model that is silent until its client has the headers; `fetch` sees that. */
  function scene(upstream: Wire, then: Behaviour) {
    const { behaviour, speak } = silent(then);
    const model = on.chaos.addModel(upstream, behaviour);
    const watched: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      speak();
      return response;
    };
    return { model, fetch: watched };
  }
  const answering: Behaviour = (call) => {
    call.isAnswered = true;
    call.socket.write(bytesOf(call));
  };
  const messages = [{ role: 'user' as const, content: 'Say something.' }];

  describe("OpenAI's SDK", () => {
    const clientOf = ({ fetch }: ReturnType<typeof scene>) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0, fetch });

    test('streams chat completions', async () => {
      const its = scene('chat', answering);
      const stream = clientOf(its).chat.completions.stream({ model: its.model, messages });
      expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe(words);
    });

    test('streams responses', async () => {
      const its = scene('responses', answering);
      const stream = clientOf(its).responses.stream({ model: its.model, input: 'Say something.' });
      expect((await stream.finalResponse()).output_text).toBe(words);
    });

    test('reports the failure of a chat completion', async () => {
      const its = scene('chat', says(503));
      const stream = clientOf(its).chat.completions.stream({ model: its.model, messages });
      await expect(stream.finalChatCompletion()).rejects.toMatchObject({ code: 'upstream_failed' });
    });

    test('reports the failure of a response', async () => {
      const its = scene('responses', says(503));
      const stream = await clientOf(its).responses.create({ model: its.model, input: 'Hi', stream: true });
      const seen: string[] = [];
      const read = async () => {
        for await (const { type } of stream) seen.push(type);
      };
      await read().catch((error: unknown) => seen.push(String((error as { code?: unknown }).code)));
      expect(seen.join(' ')).toMatch(/^response\.created .*(error|upstream_failed)/);
    });
  });

  describe("Anthropic's SDK", () => {
    const clientOf = ({ fetch }: ReturnType<typeof scene>) =>
      new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, fetch });

    test('streams messages', async () => {
      const its = scene('messages', answering);
      const stream = clientOf(its).messages.stream({ model: its.model, messages, max_tokens: 100 });
      expect((await stream.finalMessage()).content).toMatchObject([{ type: 'text', text: words }]);
    });

    test('reports a failure', async () => {
      const its = scene('messages', says(503));
      const stream = clientOf(its).messages.stream({ model: its.model, messages, max_tokens: 100 });
      await expect(stream.finalMessage()).rejects.toMatchObject({
        error: { type: 'error', error: { type: 'api_error' } },
      });
    });
  });

  describe('the AI SDK', () => {
    const makers = {
      responses: (its: ReturnType<typeof scene>) =>
        createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch: its.fetch })(its.model),
      chat: (its: ReturnType<typeof scene>) =>
        createOpenAI({ baseURL: `${url}/v1`, apiKey: key, fetch: its.fetch }).chat(its.model),
      messages: (its: ReturnType<typeof scene>) =>
        createAnthropic({ baseURL: `${url}/v1`, apiKey: key, fetch: its.fetch })(its.model),
    };

    test.each(['responses', 'chat', 'messages'] as const)('streams %s', async (wire) => {
      const model = makers[wire](scene(wire, answering));
      const { textStream } = streamText({ model, prompt: 'Say something.', maxRetries: 0 });
      let text = '';
      for await (const delta of textStream) text += delta;
      expect(text).toBe(words);
    });

    test.each(['responses', 'chat', 'messages'] as const)('reports a failure of %s', async (wire) => {
      const model = makers[wire](scene(wire, says(503)));
      const errors: unknown[] = [];
      const { fullStream } = streamText({
        model,
        prompt: 'Say something.',
        maxRetries: 0,
        onError: ({ error }) => void errors.push(error),
      });
      for await (const _part of fullStream);
      expect(errors).toHaveLength(1);
    });
  });
});
