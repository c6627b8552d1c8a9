import { once } from 'node:events';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement, RelayReply } from '../../../src/daemon/base/handler.ts';
import { ApiError, type ErrorCode, type ErrorDetails } from '../../../src/shared/errors.ts';
import { aListeningServer, anEndpoint, aServer, echo, gate, ping, statusesIn, Wire } from './http-fixture.ts';

const answering = (value: unknown, parts = {}) =>
  implement(anEndpoint({ method: 'GET', ...parts }), async () => value as never);

async function answerOf(value: unknown, parts = {}) {
  const { server, logged } = await aServer([answering(value, parts)]);
  const answer = await server.inject({ url: '/v1/things', headers: { authorization: 'Bearer login' } });
  return { answer, logged };
}

async function failing(
  thrown: unknown,
  parts: { path?: string; surface?: 'v1' | 'site' } = {},
  options = {},
) {
  const handler = implement(anEndpoint({ method: 'GET', ...parts }), async () => {
    throw thrown;
  });
  const { server, logged } = await aServer([handler], options);
  return { answer: await server.inject({ url: parts.path ?? '/v1/things' }), logged };
}

const failingWith = (code: ErrorCode, details?: ErrorDetails, parts = {}) =>
  failing(new ApiError(code, details), parts);

describe('a JSON response', () => {
  test('contains only declared members', async () => {
    const Key = Type.Object({ id: Type.String(), note: Type.Union([Type.String(), Type.Null()]) });
    const { answer } = await answerOf(
      { data: [{ id: 'key_1', note: null, secret: 'gwk_x' }], owner: { password: 1 } },
      { result: Type.Object({ data: Type.Array(Key) }) },
    );
    expect(answer.body).toBe('{"data":[{"id":"key_1","note":null}]}');
  });

  test('may contain a named schema twice, recursively, or any value', async () => {
    const Pet = Type.Object({ name: Type.String() }, { $id: 'Pet' });
    const Tree = Type.Cyclic({ Tree: Type.Object({ pet: Pet, kids: Type.Array(Type.Ref('Tree')) }) }, 'Tree');
    const value = {
      a: { name: 'x' },
      b: { name: 'y' },
      tree: { pet: { name: 'z' }, kids: [] },
      any: [1, { c: 2 }],
    };
    const { answer } = await answerOf(value, {
      result: Type.Object({ a: Pet, b: Type.Optional(Pet), tree: Tree, any: Type.Unknown() }),
    });
    expect(answer.json()).toEqual(value);
  });

  test('that violates its contract is a server error and logged', async () => {
    const { answer, logged } = await answerOf({}, { result: Type.Object({ id: Type.String() }) });
    expect(answer.statusCode).toBe(500);
    expect(logged).toHaveLength(1);
  });

  test('is not cacheable if a credential was required', async () => {
    const { answer: closed } = await answerOf({}, { access: { login: 'any' } });
    expect(closed.headers['cache-control']).toBe('no-store');
    const { answer: open } = await answerOf({});
    expect(open.headers['cache-control']).toBeUndefined();
  });

  test('may be plain text', async () => {
    const { answer } = await answerOf('up 1\n', {
      contentType: 'text/plain; version=0.0.4',
      result: Type.String(),
    });
    expect(answer.body).toBe('up 1\n');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4');
  });

  test('has the request id and the version', async () => {
    const { answer } = await answerOf({});
    expect(answer.headers).toMatchObject({ 'x-request-id': 'req_1', 'x-service-version': '1.2.3' });
  });
});

describe('a response of raw bytes', () => {
  test.each([['{"é": 1}'], [new TextEncoder().encode('{"é": 1}')]])('is sent unchanged: %o', async (body) => {
    const { answer } = await answerOf(new RelayReply({ 'x-service-model': 'm' }, body));
    expect(answer.body).toBe('{"é": 1}');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '9',
      'x-service-model': 'm',
      'x-request-id': 'req_1',
    });
  });

  test('cannot inject a header', async () => {
    const { answer, logged } = await answerOf(new RelayReply({ 'x-service-model': 'm\r\nx-evil: 1' }, '{}'));
    expect(answer.statusCode).toBe(500);
    expect(answer.headers['x-evil']).toBeUndefined();
    expect(logged).toHaveLength(1);
  });
});

describe('an error on /v1', () => {
  test('has exactly the documented members and its extra ones', async () => {
    const { answer } = await failingWith('insufficient_balance', {
      message: 'Add credit.',
      param: 'model',
      extra: { balance_usd: '0.01', type: 'mine' },
    });
    expect(answer.statusCode).toBe(402);
    expect(answer.json()).toEqual({
      error: {
        type: 'insufficient_balance',
        code: 'insufficient_balance',
        message: 'Add credit.',
        param: 'model',
        request_id: 'req_1',
        balance_usd: '0.01',
      },
    });
    expect(answer.headers['x-request-id']).toBe('req_1');
  });

  test.each<[ErrorCode, string | undefined]>([
    ['conflict', 'false'],
    ['invalid_request', 'false'],
    ['insufficient_balance', 'false'],
    ['rate_limited', undefined],
    ['upstream_failed', undefined],
    ['unavailable', undefined],
    ['server_error', undefined],
    ['no_route', 'false'],
  ])('%s tells clients whether to retry', async (code, header) => {
    expect((await failingWith(code)).answer.headers['x-should-retry']).toBe(header);
  });

  test('a route that returns by itself is worth waiting for', async () => {
    const { answer } = await failingWith('no_route', { retryAfterSeconds: 300 });
    expect(answer.headers).toMatchObject({ 'retry-after': '300' });
    expect(answer.headers['x-should-retry']).toBeUndefined();
  });

  test('says how long to wait, in whole seconds', async () => {
    const { answer } = await failingWith('rate_limited', { retryAfterSeconds: 1.2 });
    expect(answer.headers['retry-after']).toBe('2');
    expect((await failingWith('rate_limited')).answer.headers['retry-after']).toBeUndefined();
  });

  test.each([
    ['an unknown path', 'GET', '/v1/nothing'],
    ['a body for an unknown path', 'POST', '/v1/nothing'],
  ])('for %s is 404', async (_what, method, url) => {
    const { server } = await aServer([ping]);
    const answer = await server.inject({
      method: method as 'GET',
      url,
      payload: method === 'POST' ? 'x' : undefined,
    });
    expect(answer.statusCode).toBe(404);
    expect(answer.json().error).toMatchObject({ type: 'not_found', code: 'not_found' });
    expect(answer.headers['x-request-id']).toBe('req_1');
  });

  const thing = (method: 'GET' | 'DELETE', parts = {}) => {
    const endpoint = anEndpoint({ id: `${method}Thing`, method, path: '/v1/things/{id}', ...parts });
    return implement(endpoint, async () => ({}) as never);
  };

  test.each(['PUT', 'PATCH', 'TRACE', 'PROPFIND'])('for %s lists the allowed methods', async (method) => {
    const { server } = await aServer([thing('GET'), thing('DELETE')]);
    const request = { method: method as 'PUT', url: '/v1/things/a?b=c' };
    const answer = await server.inject(method === 'TRACE' ? request : { ...request, payload: '{}' });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD, DELETE, OPTIONS']);
    expect(answer.json().error).toMatchObject({
      type: 'invalid_request',
      code: 'method_not_allowed',
      message: `/v1/things/{id} supports GET, HEAD and DELETE, not ${method}.`,
    });
    expect(answer.headers['x-request-id']).toBe('req_1');
  });

  test.each(['GET', 'HEAD', 'POST'] as const)(
    'for %s of a literal path is not taken by a path with parameters',
    async (method) => {
      const compact = thing('DELETE', { id: 'compact', path: '/v1/things/compact' });
      const { server } = await aServer([thing('GET'), compact]);
      const answer = await server.inject({ method, url: '/v1/things/compact' });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'DELETE, OPTIONS']);
      expect((await server.inject({ method, url: '/v1/things/other' })).statusCode).toBe(
        method === 'POST' ? 405 : 200,
      );
    },
  );

  test.each([
    ['/things', '/v1/things'],
    ['/things/a', '/v1/things/{id}'],
    ['/openai/v1/things', '/v1/things'],
    ['/openai/deployments/small/things?api-version=1', '/v1/things'],
    ['/v1beta/things', '/v1/things'],
  ])('for %s names the path that was meant', async (url, meant) => {
    const all = thing('GET', { id: 'listThings', path: '/v1/things' });
    const { server } = await aServer([thing('GET'), all]);
    const answer = await server.inject({ method: 'GET', url });
    expect(answer.statusCode).toBe(404);
    expect(answer.json().error.message).toBe(`This path does not exist. Did you mean ${meant}?`);
  });

  test.each([
    ['/other/things/a', 'This path does not exist. See /docs'],
    ['/v1/completions', 'use /v1/chat/completions or /v1/responses'],
    ['/v1/realtime?model=any', 'for a WebSocket, use /v1/responses'],
    ['/health', 'at /healthz and /readyz'],
    ['/v1/health/ready', 'at /healthz and /readyz'],
    ['/v1beta/models/any:streamGenerateContent', "Gemini's format is not supported"],
  ])('for %s says what there is instead', async (url, sentence) => {
    const { server } = await aServer([thing('GET')]);
    const answer = await server.inject({ method: 'POST', url, payload: '{}' });
    expect(answer.statusCode).toBe(404);
    expect(answer.json().error.message).toContain(sentence);
  });

  test('is not the answer to OPTIONS, which gets the allowed methods', async () => {
    const { server } = await aServer([thing('GET')]);
    const answer = await server.inject({ method: 'OPTIONS', url: '/v1/things/a' });
    expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([204, 'GET, HEAD, OPTIONS', '']);
    expect((await server.inject({ method: 'OPTIONS', url: '/v1/nothing' })).statusCode).toBe(404);
  });

  test('writes a path that ends in a name with slashes as the reference does', async () => {
    const { server } = await aServer([thing('GET', { path: '/v1/things/{id...}' })]);
    const { error } = (await server.inject({ method: 'POST', url: '/v1/things/a/b' })).json();
    expect(error.message).toBe('/v1/things/{id} supports GET and HEAD, not POST.');
  });

  test('on the site API has its format', async () => {
    const { server } = await aServer([thing('GET', { path: '/api/things' })]);
    const ask = async (url: string) => {
      const { statusCode, headers, body } = await server.inject({ method: 'POST', url });
      return [statusCode, headers.allow, body];
    };
    const message = '/api/things supports GET and HEAD, not POST.';
    expect(await ask('/api/things')).toEqual([405, 'GET, HEAD, OPTIONS', JSON.stringify({ message })]);
    expect(await ask('/api/nothing')).toEqual([404, undefined, '{"message":"Not found."}']);
  });

  test.each(['/ping', '/v2/ping', '/v1/ping?x=/v1/y'])('at %s suggests the intended path', async (url) => {
    const { server } = await aServer([ping]);
    const answer = await server.inject({ method: url.includes('?') ? 'POST' : 'GET', url });
    expect(answer.json().error.message).toContain('/v1/ping');
  });

  test('does not repeat the requested path', async () => {
    const { server } = await aServer([ping]);
    const answer = await server.inject({ url: '/v1/gwk_aSecretInAPath?key=gwk_another' });
    expect(answer.body).not.toContain('gwk_');
    expect(answer.headers.allow).toBeUndefined();
  });
});

describe('an unexpected error', () => {
  test('reveals nothing and is logged once with the request', async () => {
    const { answer, logged } = await failing(
      new TypeError('cannot read gwk_secret', { cause: new Error('why') }),
    );
    expect(answer.statusCode).toBe(500);
    expect(answer.json().error).toEqual({
      type: 'server_error',
      code: 'server_error',
      message: 'Internal server error.',
      param: null,
      request_id: 'req_1',
    });
    expect(logged).toHaveLength(1);
    expect(logged[0]?.data).toMatchObject({
      request_id: 'req_1',
      endpoint: 'anEndpoint',
      failure: {
        name: 'TypeError',
        stack: expect.stringContaining('answers.test'),
        cause: { message: 'why' },
      },
    });
  });

  test.each([['text'], [undefined], [null], [{ a: 1 }]])('may be any value: %o', async (thrown) => {
    const { answer, logged } = await failing(thrown);
    expect(answer.statusCode).toBe(500);
    expect(logged).toHaveLength(1);
  });

  test('never logs a quoted body', async () => {
    let thrown: unknown;
    try {
      JSON.parse('secret-prompt');
    } catch (error) {
      thrown = error;
    }
    const { logged } = await failing(thrown);
    expect(JSON.stringify(logged)).not.toContain('secret');
  });

  test('may be thrown synchronously', async () => {
    const handler = {
      endpoint: anEndpoint({ method: 'GET' }),
      handle: () => {
        throw new Error('at once');
      },
    };
    const { server } = await aServer([handler]);
    expect((await server.inject({ url: '/v1/things' })).statusCode).toBe(500);
  });

  test('with an ApiError is logged with its cause only for server errors', async () => {
    expect((await failingWith('not_found', { cause: new Error('x') })).logged).toEqual([]);
  });
});

describe('an undeclared error code', () => {
  test('fails in tests', async () => {
    const { answer, logged } = await failing(new ApiError('conflict'), {}, { strictErrors: true });
    expect(answer.statusCode).toBe(500);
    expect(JSON.stringify(logged)).toContain('anEndpoint does not declare the error conflict');
    expect((await failing(new ApiError('unavailable'), {}, { strictErrors: true })).answer.statusCode).toBe(
      503,
    );
  });
});

describe('an error on the site API', () => {
  const site = { path: '/api/things' } as const;

  test.each<[ErrorCode, number, unknown]>([
    ['unauthenticated', 401, { message: 'Unauthenticated.' }],
    ['signed_out', 401, { message: 'Unauthenticated.' }],
    ['permission', 403, { message: 'This action is unauthorized.' }],
    ['out_of_scope', 403, { message: 'This action is unauthorized.' }],
    ['not_found', 404, { message: 'Not found.' }],
    ['conflict', 409, { message: 'The resource was changed or already exists.' }],
    ['unavailable', 503, { message: 'The service is temporarily unavailable.' }],
    ['server_error', 500, { message: 'Internal server error.' }],
  ])('%s', async (code, status, body) => {
    const { answer } = await failingWith(code, {}, site);
    expect([answer.statusCode, answer.json()]).toEqual([status, body]);
    expect(answer.headers['x-request-id']).toBe('req_1');
  });

  test('of a field is 422', async () => {
    const details = { param: 'invoice', message: 'The invoice has expired.' };
    const { answer } = await failingWith('invalid_request', details, site);
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({
      message: 'The given data was invalid.',
      errors: { invoice: ['The invoice has expired.'] },
    });
  });

  test('is used by path where no endpoint matches', async () => {
    const { server } = await aServer([ping]);
    expect((await server.inject({ url: '/api/nothing' })).json()).toEqual({ message: 'Not found.' });
    expect((await server.inject({ url: '/apis' })).json().error.code).toBe('not_found');
  });
});

describe('HEAD', () => {
  test('is answered like GET, without a body', async () => {
    const { port } = await aListeningServer([ping]);
    const wire = new Wire(port).send(
      `HEAD /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\n\r\nGET /v1/ping HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`,
    );
    const received = await wire.all();
    expect(statusesIn(received)).toEqual([200, 200]);
    expect(received.match(/pong/g)).toHaveLength(1);
    expect(received.match(/content-length: 13/g)).toHaveLength(2);
  });
});

describe('request metrics', () => {
  test('every request is reported once it has ended', async () => {
    const { server, finished } = await aServer([ping, echo]);
    await server.inject({ url: '/v1/ping', headers: { authorization: 'Bearer key:runs' } });
    await server.inject({ url: '/v1/nothing' });
    await server.inject({ url: '/v1/ping', headers: { authorization: 'Bearer wrong' } });
    const requests = finished.map(({ endpoint, method, status, requestId, caller, aborted }) => [
      endpoint?.id,
      method,
      status,
      requestId,
      caller.kind,
      aborted,
    ]);
    expect(requests).toEqual([
      ['ping', 'GET', 200, 'req_1', 'key', false],
      [undefined, 'GET', 404, 'req_2', 'anonymous', false],
      ['ping', 'GET', 401, 'req_3', 'anonymous', false],
    ]);
    expect(finished.every(({ durationMs }) => durationMs >= 0)).toBe(true);
  });
});

describe('a disconnected client', () => {
  test('cancels its call', async () => {
    const started = gate();
    const ended = gate<unknown>();
    const handler = implement(anEndpoint({ body: Type.Unknown() }), async ({ signal }) => {
      signal.addEventListener('abort', () => ended.resolve(signal.reason));
      started.resolve();
      await ended.promise;
      throw new Error('gave up');
    });
    const { port, logged, finished } = await aListeningServer([handler]);
    const wire = new Wire(port).send(
      `POST /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await started.promise;
    wire.socket.destroy();
    expect(await ended.promise).toBe('client-left');
    await expect.poll(() => finished).toMatchObject([{ aborted: true }]);
    expect(logged).toEqual([]);
  });

  test('in the middle of its body is not a server error', async () => {
    const { port, logged, finished } = await aListeningServer([echo]);
    const wire = new Wire(port).send(
      `POST /v1/echo HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"a":`,
    );
    await once(wire.socket, 'connect');
    await fetch(`http://127.0.0.1:${port}/v1/echo`, { method: 'POST' });
    wire.socket.destroy();
    await expect.poll(() => finished).toMatchObject([{ aborted: false }, { aborted: true }]);
    expect(logged).toEqual([]);
  });

  test('is distinguished from one that only finished sending', async () => {
    const go = gate();
    let aborted: boolean | undefined;
    const handler = implement(anEndpoint({ body: Type.Unknown() }), async ({ signal }) => {
      await go.promise;
      aborted = signal.aborted;
      return { ok: true };
    });
    const { port } = await aListeningServer([handler, ping]);
    const wire = new Wire(port).send(
      `POST /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    // Once another request is answered, the first one's body has been read and its stream closed.
    for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${port}/v1/ping`);
    go.resolve();
    await wire.until(/ok/);
    expect(aborted).toBe(false);
  });
});
