import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type ClientAnswer, type ClientRequest, createClient, pathOf } from '../../src/shared/client.ts';
import { endpoint } from '../../src/shared/contract/endpoint.ts';
import { ApiError } from '../../src/shared/errors.ts';
import { sseEvent } from '../../src/shared/http/sse.ts';

const common = { summary: '', tag: 'Daemon', access: {}, errors: [] } as const;
const readThing = endpoint({
  ...common,
  id: 'readThing',
  method: 'GET',
  path: '/v1/things/{id}',
  params: Type.Object({ id: Type.String() }),
  query: Type.Object({
    limit: Type.Optional(Type.Integer()),
    tag: Type.Optional(Type.Array(Type.String())),
  }),
  headers: Type.Object({ 'x-order': Type.Optional(Type.String()) }),
  result: Type.Object({ id: Type.String() }),
});
const makeThing = endpoint({
  ...common,
  id: 'makeThing',
  method: 'POST',
  path: '/v1/things',
  body: Type.Object({ name: Type.String() }),
  result: Type.Object({ id: Type.String() }),
});

function answering(answer: {
  status?: number;
  headers?: Record<string, string>;
  body?: Uint8Array[] | string;
}) {
  const requests: ClientRequest[] = [];
  const state = { left: false };
  const send = async (request: ClientRequest): Promise<ClientAnswer> => {
    requests.push(request);
    const { status = 200, body = '{}' } = answer;
    const headers = answer.headers ?? { 'content-type': 'text/event-stream' };
    const chunks = typeof body === 'string' ? [new TextEncoder().encode(body)] : body;
    const bytes = async function* () {
      try {
        yield* chunks;
      } finally {
        state.left = true;
      }
    };
    return { status, headers, body: bytes() };
  };
  return { client: createClient({ baseUrl: 'http://host/base/', token: 'gwk_x', send }), requests, state };
}

const readSomething = { params: { id: 'a' }, query: {}, headers: {} };

describe('a call', () => {
  test('sends every part as the contract says', async () => {
    const { client, requests } = answering({ body: '{"id":"a"}' });
    const thing = await client.call(readThing, {
      params: { id: 'a/b c' },
      query: { limit: 5, tag: ['x', 'y&z'] },
      headers: { 'x-order': 'peer' },
    });
    expect(thing.id).toBe('a');
    expect(requests[0]).toMatchObject({
      method: 'GET',
      url: 'http://host/base/v1/things/a%2Fb%20c?limit=5&tag=x&tag=y%26z',
      headers: { authorization: 'Bearer gwk_x', 'x-order': 'peer' },
    });
    expect(requests[0]?.body).toBeUndefined();
  });

  test('sends a body as JSON', async () => {
    const { client, requests } = answering({ body: '{"id":"a"}' });
    await client.call(makeThing, { body: { name: 'ü' } });
    expect(requests[0]).toMatchObject({
      body: '{"name":"ü"}',
      headers: { 'content-type': 'application/json' },
    });
  });
});

describe('a path', () => {
  test('keeps slashes only where the contract accepts several segments', () => {
    expect(pathOf('/v1/models/{model...}', { model: 'openai/gpt 5' })).toBe('/v1/models/openai/gpt%205');
  });

  test.each(['', '.', '..', 'a/../b'])('rejects %j, which would name another path', (model) => {
    expect(() => pathOf('/v1/models/{model...}', { model })).toThrow(TypeError);
  });
});

describe('a failure', () => {
  test('of the versioned API keeps every field', async () => {
    const error = {
      type: 'limit_reached',
      code: 'limit_reached',
      message: 'The cap is hit.',
      param: 'limits.spend_cap',
      request_id: 'req_1',
      resets_at: 'tomorrow',
    };
    const { client } = answering({ status: 403, body: JSON.stringify({ error }) });
    const failure = client.call(readThing, readSomething);
    await expect(failure).rejects.toBeInstanceOf(ApiError);
    await expect(failure).rejects.toMatchObject({
      code: 'limit_reached',
      status: 403,
      message: 'The cap is hit.',
      param: 'limits.spend_cap',
      requestId: 'req_1',
      extra: { resets_at: 'tomorrow' },
    });
  });

  test('with a newer code is mapped by its status', async () => {
    const error = { type: 'new_type', code: 'brand_new', message: 'New.', param: null, request_id: 'req_1' };
    const { client } = answering({
      status: 429,
      headers: { 'retry-after': '7' },
      body: JSON.stringify({ error }),
    });
    await expect(client.call(readThing, readSomething)).rejects.toMatchObject({
      code: 'rate_limited',
      sentCode: 'brand_new',
      type: 'new_type',
      retryAfterSeconds: 7,
    });
  });

  test('of the site API names the field at fault', async () => {
    const body = { message: 'The given data was invalid.', errors: { body: ['It is too long.'] } };
    const { client } = answering({
      status: 422,
      headers: { 'x-request-id': 'req_2' },
      body: JSON.stringify(body),
    });
    await expect(client.call(makeThing, { body: { name: 'a' } })).rejects.toMatchObject({
      code: 'invalid_request',
      status: 422,
      param: 'body',
      message: 'It is too long.',
      requestId: 'req_2',
    });
  });

  test('of a server that is not a gateway is reported by its status', async () => {
    const { client } = answering({ status: 502, body: '<html>Bad gateway</html>' });
    await expect(client.call(readThing, readSomething)).rejects.toMatchObject({ code: 'upstream_failed' });
  });
});

describe('a stream', () => {
  const events = ['{"n":1}', '{"n":"zwei – 二"}', '{"n":3}'];
  const text = `${events.map((data, at) => `id: ${at}\n${sseEvent(data, 'thing')}`).join('')}data: [DONE]\n\n`;

  test('yields the same events however its bytes are cut', async () => {
    const bytes = new TextEncoder().encode(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        const ends = [...cuts.sort((one, other) => one - other), bytes.length];
        const chunks = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
        const { client } = answering({ body: chunks });
        const seen: unknown[] = [];
        for await (const event of client.stream(makeThing, { body: { name: 'a' } })) seen.push(event);
        expect(seen).toEqual(events.map((data, at) => ({ event: 'thing', data, id: String(at) })));
      }),
    );
  });

  test('that is abandoned early aborts the call', async () => {
    const { client, state } = answering({ body: text });
    for await (const _event of client.stream(makeThing, { body: { name: 'a' } })) break;
    expect(state.left).toBe(true);
  });

  test('that is not an event stream is not awaited', async () => {
    const { client, state } = answering({ headers: { 'content-type': 'text/html' }, body: '<html>' });
    const first = client.stream(makeThing, { body: { name: 'a' } }).next();
    await expect(first).rejects.toThrow('http://host/base does not respond like a gateway.');
    expect(state.left).toBe(true);
  });

  test('that is rejected throws before its first event', async () => {
    const error = {
      type: 'unauthorized',
      code: 'unauthenticated',
      message: 'No.',
      param: null,
      request_id: 'r',
    };
    const { client } = answering({ status: 401, body: JSON.stringify({ error }) });
    const first = client.stream(makeThing, { body: { name: 'a' } }).next();
    await expect(first).rejects.toMatchObject({ code: 'unauthenticated', type: 'unauthorized' });
  });
});
