import fc from 'fast-check';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { implement } from '../../../src/daemon/base/handler.ts';
import { failures, isErrorCode } from '../../../src/shared/errors.ts';
import { anEndpoint, aServer } from './http-fixture.ts';

const strict = implement(
  anEndpoint({
    path: '/v1/{kind}/things',
    access: { anonymous: true, apiKey: 'runs', login: 'any' },
    params: Type.Object({ kind: Type.String({ maxLength: 20 }) }),
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1 })) }),
    body: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 64 }),
        items: Type.Optional(
          Type.Array(
            Type.Union([
              Type.String(),
              Type.Object({ type: Type.Literal('a'), at: Type.String({ format: 'date-time' }) }),
            ]),
          ),
        ),
      },
      { additionalProperties: false },
    ),
    result: Type.Object({ ok: Type.Boolean() }),
    errors: [],
  }),
  async () => ({ ok: true }),
);

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    "' OR 1=1--",
    '\0',
    '\ud800',
    '__proto__',
    'constructor',
    '../..',
    '%00',
    '%zz',
    '1e309',
    '-1',
    '',
    'a'.repeat(5000),
  ),
);
const request = fc.record({
  method: fc.constantFrom(
    'POST',
    'POST',
    'POST',
    'POST',
    'GET',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'HEAD',
    'PROPFIND',
  ),
  path: fc.oneof(
    text.map((kind) => `/v1/${encodeURIComponent(kind.toWellFormed())}/things`),
    fc.webPath().map((it) => (it.startsWith('/') ? it : `/${it}`)),
    fc.constant('/v1/x/things'),
    fc.constant('/v1/x/things'),
  ),
  query: fc.oneof(
    fc.constant(''),
    fc.webQueryParameters().map((it) => `?${it}`),
    fc.constantFrom('?limit=0', '?limit=2', '?limit=%00', '?__proto__=1'),
  ),
  contentType: fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', ''),
  authorization: fc.constantFrom(
    undefined,
    undefined,
    'Bearer key:runs',
    'Bearer key:',
    'Bearer login',
    "Bearer ' OR 1=1--",
    '',
  ),
  payload: fc.oneof(
    fc
      .record({
        name: text,
        items: fc.array(
          fc.oneof(text, fc.record({ type: fc.constantFrom('a', 'b'), at: text }), fc.jsonValue()),
        ),
      })
      .map((it) => JSON.stringify(it)),
    fc.constant('{"name":"a"}'),
    fc.json(),
    text,
  ),
});

test('every request gets a documented response', async () => {
  const { server, logged } = await aServer([strict], { strictErrors: true });
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, query, contentType, authorization, payload }) => {
      const answer = await server.inject({
        method: method as 'GET',
        url: path + query,
        headers: { 'content-type': contentType, ...(authorization !== undefined && { authorization }) },
        ...(method !== 'GET' && method !== 'HEAD' && { payload: payload.toWellFormed() }),
      });
      statuses.add(answer.statusCode);
      expect(answer.headers['x-request-id']).toMatch(/^req_\d+$/);
      if (method === 'HEAD') return;
      if (answer.statusCode === 200) {
        expect(answer.body).toBe('{"ok":true}');
        return;
      }
      if (answer.statusCode === 204) {
        expect([method, answer.body]).toEqual(['OPTIONS', '']);
        return;
      }
      const { error } = answer.json();
      expect(Object.keys(error)).toEqual(['type', 'code', 'message', 'param', 'request_id']);
      expect(error.request_id).toBe(answer.headers['x-request-id']);
      expect(isErrorCode(error.code)).toBe(true);
      expect(answer.statusCode).toBe(failures[error.code as keyof typeof failures].status);
      expect(answer.statusCode).toBeLessThan(500);
    }),
    { numRuns: 600 },
  );
  expect(logged).toEqual([]);
  for (const status of [200, 204, 400, 401, 403, 404, 405, 415]) expect(statuses).toContain(status);
});
