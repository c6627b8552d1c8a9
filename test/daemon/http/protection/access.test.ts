import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { identified, implement, StreamReply } from '../../../../src/daemon/base/handler.ts';
import { health, ready } from '../../../../src/shared/contract/daemon.ts';
import type { Access, Endpoint } from '../../../../src/shared/contract/endpoint.ts';
import { getAsset, getHome } from '../../../../src/shared/contract/reference.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import { aListeningServer, anEndpoint, aServer, keyWith, statusesIn, Wire } from '../http-fixture.ts';

async function get(access: Access, authorization?: string, parts = {}, options = {}) {
  const handler = implement(anEndpoint({ method: 'GET', access, ...parts }), async ({ caller }) => ({
    kind: caller.kind,
  }));
  const { server } = await aServer([handler], options);
  const answer = await server.inject({
    url: handler.endpoint.path,
    headers: authorization === undefined ? {} : { authorization },
  });
  return {
    status: answer.statusCode,
    error: answer.json().error,
    json: answer.json(),
    headers: answer.headers,
  };
}

describe('who may call', () => {
  const forAll: Access = { anonymous: true, apiKey: 'any', login: 'any' };
  const forKeys: Access = { apiKey: ['runs', 'runs:read'], login: 'member' };
  const forLogins: Access = { login: 'owner', loginOnly: true };

  test.each<[string, Access, string | undefined, number, string | undefined]>([
    ['no credential, where no credential is needed', forAll, undefined, 200, undefined],
    ['a key, where no credential is needed', forAll, 'Bearer key:', 200, undefined],
    ['a wrong credential, even there', forAll, 'Bearer nonsense', 401, 'unauthenticated'],
    ['no credential, where a key is needed', forKeys, undefined, 401, 'unauthenticated'],
    ['a key with one of the scopes', forKeys, 'Bearer key:keys,runs:read', 200, undefined],
    ['a key without any of the scopes', forKeys, 'Bearer key:keys,responses', 403, 'out_of_scope'],
    ['a key without scopes', forKeys, 'Bearer key:', 403, 'out_of_scope'],
    ['a key with no scope, where any key will do', { apiKey: 'any' }, 'Bearer key:', 200, undefined],
    ['a login, where it is named', forKeys, 'Bearer login', 200, undefined],
    ['a login, where it is not named', { apiKey: 'any' }, 'Bearer login', 403, 'permission'],
    ['a key, where it is not named', { login: 'any' }, 'Bearer key:keys', 403, 'permission'],
    ['no credential, where only a login will do', forLogins, undefined, 401, 'signed_out'],
    ['a key, where only a login will do', forLogins, 'Bearer key:keys', 401, 'signed_out'],
    ['a login, where only a login will do', forLogins, 'Bearer login', 200, undefined],
  ])('%s', async (_who, access, authorization, status, code) => {
    const answer = await get(access, authorization);
    expect([answer.status, answer.error?.code]).toEqual([status, code]);
  });

  test('is named to a key that can never call the endpoint', async () => {
    const answer = await get({ login: 'any' }, 'Bearer key:keys');
    expect(answer.error?.message).toBe('This endpoint is not available to API keys.');
  });

  test('is the same for unknown and malformed keys', async () => {
    const [one, other] = await Promise.all(
      ['Bearer unknown', 'garbage \u00e9'].map((it) => get(forKeys, it)),
    );
    expect({ ...one?.error, request_id: '' }).toEqual({ ...other?.error, request_id: '' });
  });

  test('is checked before the body is read', async () => {
    const handler = implement(anEndpoint({ access: forKeys, body: Type.Object({}) }), async () => ({}));
    const { server } = await aServer([handler]);
    const answer = await server.inject({
      method: 'POST',
      url: '/v1/things',
      headers: { 'content-type': 'text/plain' },
      payload: '{',
    });
    expect(answer.statusCode).toBe(401);
  });

  test('can be checked asynchronously', async () => {
    const authenticate = async (authorization: string | undefined) => {
      if (authorization === 'Bearer gone') throw new ApiError('unauthenticated');
      return keyWith('runs');
    };
    expect((await get(forKeys, 'Bearer x', {}, { authenticate })).json).toEqual({ kind: 'key' });
    expect((await get(forKeys, 'Bearer gone', {}, { authenticate })).status).toBe(401);
  });

  test('receives the endpoint', async () => {
    const seen: unknown[] = [];
    await get(
      forAll,
      'Bearer x',
      {},
      {
        authenticate: (authorization: string, context: object) => {
          seen.push(authorization, context);
          return keyWith();
        },
      },
    );
    expect(seen).toEqual([
      'Bearer x',
      expect.objectContaining({
        endpoint: expect.objectContaining({ id: 'anEndpoint' }),
        requestId: 'req_1',
        remoteAddress: '127.0.0.1',
      }),
    ]);
  });
});

describe('a 401', () => {
  test("returns the endpoint's 401 type", async () => {
    const model = await get({ apiKey: 'responses' }, undefined, { unauthorizedType: 'unauthorized' });
    expect(model.error.type).toBe('unauthorized');
    expect((await get({ apiKey: 'responses' })).error.type).toBe('authentication');
  });

  test('returns one sentence on the site API', async () => {
    const answer = await get({ login: 'any' }, 'Bearer wrong', { path: '/api/things' });
    expect(answer.json).toEqual({ message: 'Unauthenticated.' });
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  test('names the authentication scheme', async () => {
    expect((await get({ login: 'any' })).headers['www-authenticate']).toBe('Bearer');
  });
});

describe('anonymous callers', () => {
  test('are rate limited by address, with the time to wait', async () => {
    const handler = implement(anEndpoint({ method: 'GET' }), async () => ({}));
    const { server } = await aServer([handler], { limits: { publicBurst: 3, publicPerSecond: 0.1 } });
    const ask = (headers = {}, remoteAddress = '10.0.0.1') =>
      server.inject({ url: '/v1/things', headers, remoteAddress });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await ask()).statusCode);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const refused = await ask();
    expect(refused.json().error).toMatchObject({ type: 'rate_limited', code: 'rate_limited' });
    expect(Number(refused.headers['retry-after'])).toBe(10);
    expect((await ask({}, '10.0.0.2')).statusCode).toBe(200);
    expect((await ask({ authorization: 'Bearer login' })).statusCode).toBe(200);
  });

  test.each([
    [health, '/healthz'],
    [ready, '/readyz'],
    [getHome, '/'],
    [getAsset, '/assets/main.js'],
  ])('get pages, their files and probes at any rate: $id', async (endpoint, url) => {
    const handler = implement(endpoint as Endpoint, () => Promise.reject(new ApiError('not_found')));
    const { server } = await aServer([handler], { limits: { publicBurst: 1, publicPerSecond: 0.1 } });
    for (let i = 0; i < 3; i += 1) expect((await server.inject({ url })).statusCode).toBe(404);
  });

  test('have a limited number of open streams per address', async () => {
    const endless = async function* (signal: AbortSignal) {
      yield 'data: {}\n\n';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const handler = implement(
      anEndpoint({ method: 'GET', stream: { event: Type.Unknown(), done: true, always: true } }),
      async ({ signal }) => new StreamReply({}, endless(signal)),
    );
    const { port } = await aListeningServer([handler], { limits: { publicStreamsMax: 2 } });
    const open = async (headers = '') => {
      const wire = new Wire(port);
      wire.send(`GET /v1/things HTTP/1.1\r\nHost: localhost:${port}\r\n${headers}\r\n`);
      await wire.until(/data: |"code"/);
      return { wire, status: statusesIn(wire.received)[0] };
    };
    const first = await open();
    expect([first.status, (await open()).status, (await open()).status]).toEqual([200, 200, 429]);
    expect((await open('Authorization: Bearer login\r\n')).status).toBe(200);
    first.wire.socket.destroy();
    await eventually('a place is free', async () => (await open()).status === 200);
  });
});

test('handlers can rely on an identified caller', async () => {
  const handler = implement(anEndpoint({ method: 'GET', access: { apiKey: 'any' } }), async ({ caller }) => ({
    workspace: identified(caller).workspaceId,
  }));
  const { server } = await aServer([handler]);
  const answer = await server.inject({ url: '/v1/things', headers: { authorization: 'Bearer key:' } });
  expect(answer.json()).toEqual({ workspace: 'ws_1' });
});
