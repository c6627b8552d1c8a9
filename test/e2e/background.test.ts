import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cutAfter,
  drips,
  hangs,
  pausesAfter,
  says,
  stallsAfter,
  words,
} from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, nanoUsdPerToken, startChaosDaemon } from '../support/chaos-daemon.ts';
import { eventually } from '../support/eventually.ts';

let place: ChaosDaemon;
let client: OpenAI;

beforeAll(async () => {
  place = await startChaosDaemon();
  const { url, key } = place.daemon;
  client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
});

afterAll(async () => {
  await place.close();
});

const usage = { input: 100, output: 50 };
const price = usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output;
const input = 'Say something.';
const background = { input, background: true } as const;

/** Polls as the API's documentation describes. */
async function ended(id: string): Promise<Response> {
  return eventually(`the end of ${id}`, async () => {
    const response = await client.responses.retrieve(id);
    return response.status !== 'queued' && response.status !== 'in_progress' && response;
  });
}

async function statusComes(id: string, status: string): Promise<Response> {
  return eventually(`${id} is ${status}`, async () => {
    const response = await client.responses.retrieve(id);
    return response.status === status && response;
  });
}

async function collect(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const types = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const sequences = (events: readonly ResponseStreamEvent[]) =>
  events.map((event) => (event as { sequence_number: number }).sequence_number);
const textOf = (events: readonly ResponseStreamEvent[]) =>
  events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

/** The raw text of a followed stream, with its `[DONE]`. */
async function followed(id: string, after?: number): Promise<string> {
  const query = after === undefined ? '' : `&starting_after=${after}`;
  const answer = await place.daemon.fetch(`/v1/responses/${id}?stream=true${query}&include[]=reasoning`);
  expect(answer.status).toBe(200);
  return answer.text();
}

describe.each(['chat', 'responses'])(
  'a background response from a provider with the %s format',
  (upstream) => {
    test('is queued immediately and becomes a stored response', async () => {
      const shown = Promise.withResolvers<void>();
      place.chaos.on('slow', pausesAfter(4, shown.promise, { text: words, usage }));
      const model = `${upstream}/slow`;
      const queued = await client.responses.create({ ...background, model, metadata: { run: '7' } });
      expect(queued).toMatchObject({ status: 'queued', background: true, output: [], model, store: true });

      expect((await statusComes(queued.id, 'in_progress')).output).toEqual([]);
      shown.resolve();
      const response = await ended(queued.id);
      expect(response).toMatchObject({ id: queued.id, status: 'completed', metadata: { run: '7' } });
      expect(response.output_text).toBe(words);
      expect(response.usage).toMatchObject({ input_tokens: 100, output_tokens: 50 });

      const next = await client.responses.create({
        model: `${upstream}/next`,
        input: 'And then?',
        previous_response_id: queued.id,
      });
      expect(next.status).toBe('completed');
      const asked = JSON.stringify(place.chaos.callsOf('next').at(-1)?.body);
      for (const part of [input, words, 'And then?']) expect(asked).toContain(part);
    });

    test('can be streamed, left and resumed after any event, by several clients at once', async () => {
      place.chaos.on('left', drips(10, { text: words, usage }));
      const model = `${upstream}/left`;
      const stream = await client.responses.create({ ...background, model, stream: true });
      const seen: ResponseStreamEvent[] = [];
      for await (const event of stream) {
        seen.push(event);
        // Leaving the loop closes the connection.
        if (event.type === 'response.output_text.delta') break;
      }
      expect(types(seen).slice(0, 4)).toEqual([
        'response.created',
        'response.queued',
        'service:route',
        'response.in_progress',
      ]);
      const [created] = seen;
      if (created?.type !== 'response.created') throw new Error('no response.created');
      const { id } = created.response;
      const last = sequences(seen).at(-1) as number;

      const [rest, whole] = await Promise.all([
        collect(await client.responses.retrieve(id, { stream: true, starting_after: last })),
        collect(await client.responses.retrieve(id, { stream: true })),
      ]);
      expect(sequences(whole)).toEqual(whole.map((_, index) => index));
      expect([...seen, ...rest]).toEqual(whole);
      expect(textOf(whole)).toBe(words);
      expect(types(whole).slice(-2)).toEqual(['service:cost', 'response.completed']);

      // While it is kept, and after its end, it can be read again from anywhere.
      for (const after of [0, 7, whole.length - 2]) {
        const again = await collect(
          await client.responses.retrieve(id, { stream: true, starting_after: after }),
        );
        expect(again).toEqual(whole.slice(after + 1));
      }
      expect(await followed(id, whole.length - 1)).toBe(': following\n\ndata: [DONE]\n\n');
      expect((await place.waitForUsage(model)).charged).toBe(price);
    });

    test('satisfies the strict stream helper of the SDK', async () => {
      const model = `${upstream}/strict`;
      const queued = await client.responses.create({ ...background, model, stream: true });
      const [created] = await collect(queued);
      if (created?.type !== 'response.created') throw new Error('no response.created');
      const resumed = client.responses.stream({ response_id: created.response.id });
      expect((await resumed.finalResponse()).output_text).toBe(words);
    });
  },
);

describe('a background response that is cancelled', () => {
  test('ends for its followers, is charged for the text generated so far, and stays cancelled', async () => {
    place.chaos.on('stalled', stallsAfter(8));
    const model = 'chat/stalled';
    const stream = await client.responses.create({ ...background, model, stream: true });
    const events: ResponseStreamEvent[] = [];
    let id = '';
    let cancelling: Promise<Response> | undefined;
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') cancelling ??= client.responses.cancel(id);
    }
    const cancelled = (await cancelling) as Response;
    expect(cancelled).toMatchObject({ id, status: 'cancelled', incomplete_details: null, error: null });
    expect(cancelled.output).toMatchObject([{ type: 'message', status: 'incomplete' }]);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } });
    expect(await client.responses.retrieve(id)).toMatchObject(cancelled);
    expect(await client.responses.cancel(id)).toEqual(cancelled);
    expect(textOf(events)).not.toBe('');

    const row = await place.waitForUsage(model);
    expect(row).toMatchObject({ status: 'canceled' });
    expect(row.output).toBeGreaterThan(0);
    expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
    await place.waitUntilIdle();
  });

  test('before a provider has answered', async () => {
    place.chaos.on('silent', hangs());
    const { id } = await client.responses.create({ ...background, model: 'chat/silent' });
    expect((await client.responses.retrieve(id)).status).toBe('queued');
    const cancelled = await Promise.all([client.responses.cancel(id), client.responses.cancel(id)]);
    for (const response of cancelled) expect(response).toMatchObject({ id, status: 'cancelled', output: [] });
    await place.waitUntilIdle();
  });

  test('only if it is a background response that is still running', async () => {
    const usual = await client.responses.create({ model: 'chat/any', input });
    await expect(client.responses.cancel(usual.id)).rejects.toMatchObject({ status: 400, param: 'id' });
    await expect(client.responses.cancel('resp_none')).rejects.toMatchObject({ status: 404 });
    const { id } = await client.responses.create({ ...background, model: 'chat/any' });
    const response = await ended(id);
    expect(response).toMatchObject(await client.responses.cancel(id));
    expect(response.status).toBe('completed');
  });
});

describe('a background response that fails', () => {
  test('reports it when no provider answers', async () => {
    place.chaos.on('broken', says(500));
    const { id } = await client.responses.create({ ...background, model: 'chat/broken' });
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_failed' },
      output: [],
    });
  });

  test('reports it when the answer breaks off', async () => {
    place.chaos.on('cut', cutAfter(6, 'reset'));
    const stream = await client.responses.create({ ...background, model: 'chat/cut', stream: true });
    const events: ResponseStreamEvent[] = [];
    await expect(
      (async () => {
        for await (const event of stream) events.push(event);
      })(),
    ).rejects.toMatchObject({ code: 'upstream_failed' });
    const [created] = events;
    if (created?.type !== 'response.created') throw new Error('no response.created');
    const failed = await ended(created.response.id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'upstream_failed' } });
    const reported = await followed(failed.id, 3);
    expect(reported).toMatch(/event: error\n.*\n\nevent: response\.failed\n.*\n\ndata: \[DONE\]\n\n$/);
  });
});

describe('a background response is refused', () => {
  test.each([
    ['that is not to be stored', { store: false }, 400, 'background'],
    ['of an unknown model', { model: 'nobody/none' }, 404, 'model'],
    ['without input', { input: undefined }, 400, 'input'],
    [
      'at a discount',
      { background_options: { completion_window: '8h' } },
      400,
      'background_options.completion_window',
    ],
  ])('%s', async (_what, change, status, param) => {
    const asked = { ...background, model: 'chat/any', ...change };
    await expect(client.responses.create(asked as never)).rejects.toMatchObject({ status, param });
  });

  test('as a stream when its events were not stored', async () => {
    const usual = await client.responses.create({ model: 'chat/any', input });
    const quiet = await client.responses.create({ ...background, model: 'chat/any' });
    for (const { id } of [usual, quiet]) {
      await expect(client.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
        status: 400,
        param: 'stream',
      });
    }
    await expect(client.responses.retrieve('resp_none', { stream: true })).rejects.toMatchObject({
      status: 404,
    });
  });
});

test('at most 256 run at once, and further ones are rejected before they start', async () => {
  place.chaos.on('crowd', hangs());
  const { fetch } = place.daemon;
  const json = { ...background, model: 'chat/crowd' };
  const send = async () => {
    const answer = await fetch('/v1/responses', { json });
    // Read at once: the daemon closes a connection five seconds after it has sent an answer.
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Response };
  };
  const answers = await Promise.all(Array.from({ length: 260 }, send));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  const made = answers.filter(({ status }) => status === 200);
  await Promise.all(made.map(({ body }) => client.responses.cancel(body.id)));
  expect((await fetch('/v1/responses', { json: { ...json, model: 'chat/any' } })).status).toBe(200);
  expect((await place.waitUntilIdle()).faults).toEqual([]);
});

test('a limit that is reached is reported immediately', async () => {
  const headers = { authorization: `Bearer ${place.daemon.login}`, 'content-type': 'application/json' };
  const issued = await place.daemon.fetch('/v1/workspaces/me/keys', { json: { models: ['sim/*'] }, headers });
  const { secret } = (await issued.json()) as { secret: string };
  const narrow = new OpenAI({ baseURL: `${place.daemon.url}/v1`, apiKey: secret, maxRetries: 0 });
  await expect(narrow.responses.create({ ...background, model: 'chat/any' })).rejects.toMatchObject({
    status: 403,
    code: 'limit_reached',
  });
});

test('deleting a running response ends it and leaves nothing behind', async () => {
  place.chaos.on('deleted', stallsAfter(8));
  const stream = await client.responses.create({ ...background, model: 'chat/deleted', stream: true });
  let id = '';
  for await (const event of stream) {
    if (event.type === 'response.created') id = event.response.id;
    if (event.type === 'response.output_text.delta') break;
  }
  await client.responses.delete(id);
  await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(client.responses.retrieve(id, { stream: true })).rejects.toMatchObject({ status: 404 });
  expect((await place.waitForUsage('chat/deleted')).status).toBe('canceled');
  await place.waitUntilIdle();
});

test('revoking a key ends the responses it started', async () => {
  place.chaos.on('stolen', stallsAfter(8));
  const headers = { authorization: `Bearer ${place.daemon.login}`, 'content-type': 'application/json' };
  const issued = await place.daemon.fetch('/v1/workspaces/me/keys', { json: { name: 'stolen' }, headers });
  const { key, secret } = (await issued.json()) as { key: { id: string }; secret: string };
  const thief = new OpenAI({ baseURL: `${place.daemon.url}/v1`, apiKey: secret, maxRetries: 0 });
  const { id } = await thief.responses.create({ ...background, model: 'chat/stolen' });
  await statusComes(id, 'in_progress');
  await place.daemon.fetch(`/v1/workspaces/me/keys/${key.id}`, { method: 'DELETE', headers });
  expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'unauthenticated' } });
  await place.waitUntilIdle();
});

describe('the input of a response', () => {
  const items = ['one', 'two', 'three'].map((content) => ({ role: 'user' as const, content }));
  const shown = (content: string) => ({
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: content }],
  });

  test('is listed page by page, newest first', async () => {
    const { id } = await client.responses.create({ model: 'chat/any', input: items });
    const seen: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2 })) seen.push(item);
    expect(seen).toMatchObject(['three', 'two', 'one'].map(shown));
    const page = await place.daemon.fetch(`/v1/responses/${id}/input_items?order=asc&limit=2`);
    const ids = seen.map((item) => (item as { id: string }).id);
    expect(await page.json()).toMatchObject({
      object: 'list',
      data: ['one', 'two'].map(shown),
      first_id: ids[2],
      last_id: ids[1],
      has_more: true,
    });
    await expect(client.responses.inputItems.list(id, { after: 'msg_none' })).rejects.toMatchObject({
      status: 400,
      param: 'after',
    });
  });

  test('also while the response is running', async () => {
    place.chaos.on('listed', hangs());
    const { id } = await client.responses.create({ ...background, model: 'chat/listed' });
    const page = await client.responses.inputItems.list(id);
    expect(page.data).toMatchObject([shown(input)]);
    await client.responses.cancel(id);
    expect((await client.responses.inputItems.list(id)).data).toEqual(page.data);
  });
});
