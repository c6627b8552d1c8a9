import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSocket, type SocketClient } from '../support/socket-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const open = (key = daemon.key): Promise<SocketClient> => openSocket(`${daemon.url}/v1/responses`, { key });
const create = (body: object) => ({ type: 'response.create', model: 'sim/echo', store: false, ...body });
const textOf = (response: { output: { content?: { text: string }[] }[] }) =>
  response.output.map(({ content }) => content?.map(({ text }) => text).join('') ?? '').join('');

describe('a response on a socket', () => {
  test('arrives as stream events, one per frame, and is metered like a POST', async () => {
    const client = await open();
    const events = await client.ask(create({ input: 'Hello.', stream: true }));
    const types = events.map(({ type }) => type);
    expect(types.slice(0, 4)).toEqual([
      'response.created',
      'service:route',
      'response.in_progress',
      'response.output_item.added',
    ]);
    expect(types.slice(-2)).toEqual(['service:cost', 'response.completed']);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const { response } = events.at(-1);
    expect(textOf(response)).toContain('Hello.');
    const { request_id: requestId } = events[1];
    expect(requestId).not.toBe(client.upgrade.headers['x-request-id']);
    const usage = await (await daemon.fetch(`/v1/usage/${requestId}`)).json();
    expect(usage).toMatchObject({
      endpoint: '/v1/responses',
      response_id: response.id,
      status: 'completed',
      streamed: true,
    });
  });

  test('omits the gateway’s own events on request', async () => {
    const client = await open();
    const events = await client.ask(create({ input: 'Hello.', service: { events: false } }));
    expect(events.filter(({ type }) => type.startsWith('service:'))).toEqual([]);
    expect(events.at(-1).response.service.provider).toBe('simulator');
  });

  test('can follow another, each with its own request id', async () => {
    const client = await open();
    for (const input of ['One.', 'Two.', 'Three.']) client.send(create({ input }));
    const texts = [];
    for (let i = 0; i < 3; i += 1)
      texts.push(textOf((await client.next(({ type }) => type === 'response.completed')).response));
    expect(texts.map((text) => /One|Two|Three/.exec(text)?.[0])).toEqual(['One', 'Two', 'Three']);
    const ids = client.events
      .filter(({ type }) => type === 'service:route')
      .map(({ request_id }) => request_id);
    expect(new Set(ids).size).toBe(3);
  });

  test.each([
    ['a lane', { input: 'Hello.', stream_id: 'one' }, 'invalid_request', 'stream_id'],
    ['the background', { input: 'Hello.', background: true }, 'invalid_request', 'background'],
    ['no input', {}, 'invalid_request', 'input'],
    ['an unknown model', { model: 'nobody/nothing', input: 'Hello.' }, 'model_not_found', 'model'],
    ['a number for text', { input: 'Hello.', instructions: 7 }, 'invalid_request', 'instructions'],
    [
      'a wrong place in the input',
      { input: [{ role: 'nobody', content: '' }] },
      'invalid_request',
      'input[0].role',
    ],
    [
      'what is not there',
      { input: 'Hello.', previous_response_id: 'resp_none' },
      'previous_response_not_found',
      'previous_response_id',
    ],
  ])('that asks for %s gets an error frame', async (_what, body, code, param) => {
    const client = await open();
    const [error, ...more] = await client.ask(create(body));
    expect(more).toEqual([]);
    expect(error).toMatchObject({ type: 'error', error: { code, param } });
    expect((await client.ask(create({ input: 'On.' }))).at(-1).type).toBe('response.completed');
  });
});

// openai/codex#21642, korchasa/ai-ide-cli#9: an error would be taken for that of the next turn.
test('what Codex says after a compaction is not answered', async () => {
  const client = await open();
  client.send({ type: 'response.processed', response_id: 'resp_none' });
  const events = await client.ask(create({ input: 'On.' }));
  expect([client.events[0]?.type, events.at(-1).type]).toEqual(['response.created', 'response.completed']);
  const [other] = await client.ask({ type: 'response.unknown' });
  expect(other).toMatchObject({ type: 'error', error: { code: 'invalid_request', param: 'type' } });
});

test('opens at a path with a slash at its end too', async () => {
  const client = await openSocket(`${daemon.url}/v1/responses/`, { key: daemon.key });
  expect((await client.ask(create({ input: 'On.' }))).at(-1).type).toBe('response.completed');
});

test('an unknown previous response is a 400 on a socket, where clients then start a new chain', async () => {
  const client = await open();
  const [frame] = await client.ask(create({ input: 'On.', previous_response_id: 'resp_none' }));
  expect(frame).toMatchObject({
    status: 400,
    error: {
      type: 'invalid_request',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    },
  });
});

test('a failure within an answer is reported with status and position, and the socket stays open', async () => {
  const client = await open();
  const events = await client.ask(create({ model: 'sim/broken', input: 'Hello.' }));
  const [error, failed] = events.slice(-2);
  expect(error).toEqual({
    type: 'error',
    sequence_number: events.length - 2,
    status: 502,
    error: { type: 'upstream_failed', code: 'upstream_failed', message: expect.any(String), param: null },
  });
  expect(failed).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'upstream_failed' } },
  });
  expect((await client.ask(create({ input: 'On.' }))).at(-1).type).toBe('response.completed');
});

test('a rate limit is reported with the same wait as in a header', async () => {
  const client = await open();
  const [refused] = await client.ask(create({ model: 'sim/limited', input: 'Hello.' }));
  expect(refused).toMatchObject({
    status: 429,
    error: { code: 'rate_limited', headers: { 'retry-after': '1' } },
  });
});

describe('the context of a socket', () => {
  const whoAmI = { model: 'sim/assistant' };

  test('continues unstored responses over many turns, on this socket only', async () => {
    const client = await open();
    let previous: string | undefined;
    const inputTokens: number[] = [];
    for (const input of ['My name is Ada.', 'I like tea.', 'Who am I?']) {
      const [, ...events] = await client.ask(create({ ...whoAmI, input, previous_response_id: previous }));
      const { response } = events.at(-1);
      expect([response.status, response.previous_response_id]).toEqual(['completed', previous ?? null]);
      inputTokens.push(response.usage.input_tokens);
      previous = response.id;
    }
    expect(inputTokens).toEqual(inputTokens.toSorted((a, b) => a - b));
    expect(new Set(inputTokens).size).toBe(3);
    expect((await daemon.fetch(`/v1/responses/${previous}`)).status).toBe(404);
    const other = await open();
    const [error] = await other.ask(create({ input: 'Who am I?', previous_response_id: previous }));
    expect(error.error.code).toBe('previous_response_not_found');
  });

  test('is the latest response only', async () => {
    const client = await open();
    const first = (await client.ask(create({ input: 'One.' }))).at(-1).response.id;
    await client.ask(create({ input: 'Two.' }));
    const [error] = await client.ask(create({ input: 'More.', previous_response_id: first }));
    expect(error.error.code).toBe('previous_response_not_found');
  });

  test('is dropped when a response that continues it fails', async () => {
    const client = await open();
    const { id } = (await client.ask(create({ input: 'One.' }))).at(-1).response;
    const bad = create({ input: 'Two.', previous_response_id: id, model: 'nobody/nothing' });
    expect((await client.ask(bad))[0].error.code).toBe('model_not_found');
    const [error] = await client.ask(create({ input: 'Two.', previous_response_id: id }));
    expect(error.error.code).toBe('previous_response_not_found');
  });

  test('is dropped when the message that would continue it is invalid', async () => {
    const client = await open();
    const { id } = (await client.ask(create({ input: 'One.' }))).at(-1).response;
    const bad = create({ input: 'Two.', previous_response_id: id, temperature: 'hot' });
    expect((await client.ask(bad))[0].error).toMatchObject({ code: 'invalid_request', param: 'temperature' });
    const [error] = await client.ask(create({ input: 'Two.', previous_response_id: id }));
    expect(error.error.code).toBe('previous_response_not_found');
  });

  test('is dropped when the answer that continues it breaks off, and kept when another message fails', async () => {
    const client = await open();
    const { id } = (await client.ask(create({ input: 'One.' }))).at(-1).response;
    expect((await client.ask(create({ model: 'nobody/nothing', input: 'Two.' })))[0].status).toBe(404);
    const next = (await client.ask(create({ input: 'Two.', previous_response_id: id }))).at(-1).response;
    expect(next.status).toBe('completed');
    const broken = create({ input: 'Three.', previous_response_id: next.id, model: 'sim/broken' });
    expect((await client.ask(broken)).at(-1).type).toBe('response.failed');
    const [error] = await client.ask(create({ input: 'Three.', previous_response_id: next.id }));
    expect(error.error.code).toBe('previous_response_not_found');
  });

  test('starts from a stored response and continues without storing', async () => {
    const client = await open();
    const stored = (await client.ask(create({ input: 'One.', store: true }))).at(-1).response;
    expect((await daemon.fetch(`/v1/responses/${stored.id}`)).status).toBe(200);
    const next = (await client.ask(create({ input: 'Two.', previous_response_id: stored.id }))).at(
      -1,
    ).response;
    const last = (await client.ask(create({ input: 'Three.', previous_response_id: next.id }))).at(
      -1,
    ).response;
    expect(last.usage.input_tokens).toBeGreaterThan(next.usage.input_tokens);
  });

  test('resolves items by their ids', async () => {
    const client = await open();
    const { response } = (await client.ask(create({ input: 'One.' }))).at(-1);
    const input = [
      { type: 'item_reference', id: response.output[0].id },
      { role: 'user', content: 'Again.' },
    ];
    expect((await client.ask(create({ input }))).at(-1).type).toBe('response.completed');
  });

  test('can be prepared without an answer, a charge or a usage row', async () => {
    const client = await open();
    const used = async () =>
      ((await (await daemon.fetch('/v1/usage?group_by=model')).json()) as { total: object }).total;
    const before = await used();
    const events = await client.ask(
      create({ ...whoAmI, generate: false, stream: true, input: 'My name is Ada.', tools: [] }),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
    const { response } = events.at(-1);
    expect(response).toMatchObject({ status: 'completed', output: [], usage: { total_tokens: 0 } });
    expect(await used()).toEqual(before);
    const next = (
      await client.ask(create({ ...whoAmI, input: 'Who am I?', previous_response_id: response.id }))
    ).at(-1).response;
    const alone = (await client.ask(create({ ...whoAmI, input: 'Who am I?' }))).at(-1).response;
    expect(next.usage.input_tokens).toBeGreaterThan(alone.usage.input_tokens);
  });
});

test('revoking a key closes its sockets and fails its running answers', async () => {
  const issue = await daemon.fetch('/v1/workspaces/me/keys', {
    json: { name: 'soon gone', scopes: ['responses'] },
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  const { key, secret } = (await issue.json()) as { key: { id: string }; secret: string };
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(secret)));
  const slow = create({ model: 'sim/slow', input: 'Write 2000 words.' });
  for (const socket of sockets.slice(5)) {
    socket.send(slow);
    await socket.next();
  }
  await daemon.fetch(`/v1/workspaces/me/keys/${key.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  for (const socket of sockets) expect(await socket.closed).toMatchObject({ code: 1008 });
  for (const [index, socket] of sockets.entries()) {
    expect(socket.events.at(-1)).toMatchObject({
      type: 'error',
      status: 401,
      error: { code: 'unauthenticated' },
    });
    if (index >= 5) expect(socket.events.map(({ type }) => type)).toContain('response.failed');
  }
});

test('each message counts against the limits of the key', async () => {
  const asOwner = { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' };
  const issued = await fetch(`${daemon.url}/v1/workspaces/me/keys`, {
    method: 'POST',
    headers: asOwner,
    body: JSON.stringify({ name: 'slow', scopes: ['responses'] }),
  });
  const { key, secret } = (await issued.json()) as { key: { id: string }; secret: string };
  const client = await open(secret);
  expect((await client.ask(create({ input: 'One.' }))).at(-1).type).toBe('response.completed');
  // What the owner changes holds for sockets that are open.
  const changed = await fetch(`${daemon.url}/v1/workspaces/me/keys/${key.id}/limits`, {
    method: 'PUT',
    headers: asOwner,
    body: JSON.stringify({ models: ['sim/assistant'], requests_per_minute: 1 }),
  });
  expect(changed.status).toBe(200);
  const [refused] = await client.ask(create({ input: 'Two.' }));
  expect(refused.error).toMatchObject({ code: 'limit_reached', param: 'limits.models' });
  const [prepared] = await client.ask(create({ input: 'Two.', generate: false }));
  expect(prepared.error).toMatchObject({ code: 'limit_reached', param: 'limits.models' });
  const asked = create({ model: 'sim/assistant', input: 'Three.' });
  const outcomes = [await client.ask(asked), await client.ask(asked)].map((events) => events.at(-1));
  expect(outcomes.at(-1)).toMatchObject({ type: 'error', error: { param: 'limits.requests_per_minute' } });
});

describe('the official client', () => {
  test('carries on a conversation', async () => {
    const client = new OpenAI({ apiKey: daemon.key, baseURL: `${daemon.url}/v1` });
    const socket = new ResponsesWS(client);
    const failures: unknown[] = [];
    socket.on('error', (error) => failures.push(error));
    const answers: string[] = [];
    let last = '';
    const ask = async (input: string) => {
      const done = new Promise<void>((resolve) => {
        socket.once('response.completed', ({ response }) => {
          answers.push(response.output_text ?? textOf(response as never));
          last = response.id;
          resolve();
        });
      });
      socket.send({
        type: 'response.create',
        model: 'sim/echo',
        input,
        store: false,
        ...(last !== '' && { previous_response_id: last }),
      });
      await done;
    };
    await ask('Hello.');
    await ask('And now?');
    expect(failures).toEqual([]);
    expect(answers.map((text) => /Hello|And now/.exec(text)?.[0])).toEqual(['Hello', 'And now']);
    socket.close();
  });

  test('receives a failure', async () => {
    const client = new OpenAI({ apiKey: daemon.key, baseURL: `${daemon.url}/v1` });
    const socket = new ResponsesWS(client);
    const failure = new Promise<Error>((resolve) => socket.on('error', resolve));
    socket.send({ type: 'response.create', model: 'nobody/nothing', input: 'Hello.' });
    expect(JSON.stringify(((await failure) as Error & { error?: unknown }).error)).toContain(
      'model_not_found',
    );
    socket.close();
  });

  test('receives a failure within an answer, and the end of the answer', async () => {
    const client = new OpenAI({ apiKey: daemon.key, baseURL: `${daemon.url}/v1` });
    const socket = new ResponsesWS(client);
    const failure = new Promise<Error & { error?: unknown }>((resolve) => socket.on('error', resolve));
    const end = new Promise((resolve) => socket.on('response.failed', resolve));
    socket.send({ type: 'response.create', model: 'sim/broken', input: 'Hello.' });
    expect(await failure).toMatchObject({
      message: expect.stringContaining('ended its answer early'),
      error: { status: 502, error: { code: 'upstream_failed' } },
    });
    expect(await end).toMatchObject({ response: { status: 'failed' } });
    socket.close();
  });
});

test('a daemon that stops closes idle sockets immediately', async () => {
  const own = await startDaemon();
  const client = await openSocket(`${own.url}/v1/responses`, { key: own.key });
  expect(await own.stop()).toBe(0);
  expect(await client.closed).toMatchObject({ code: 1001 });
});
