import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { implement } from '../../../src/daemon/base/handler.ts';
import type { Endpoint } from '../../../src/shared/contract/endpoint.ts';
import { OneLine } from '../../../src/shared/contract/vocabulary.ts';
import { anEndpoint, aServer } from './http-fixture.ts';

type Parts = Partial<
  Pick<Endpoint, 'params' | 'query' | 'headers' | 'body' | 'surface' | 'bodyRequired' | 'bodyLimit'>
>;

async function send(
  parts: Parts,
  request: { path?: string; url?: string; body?: unknown; headers?: object },
) {
  const endpoint = anEndpoint({
    method: parts.body ? 'POST' : 'GET',
    path: request.path ?? '/v1/things',
    access: { anonymous: true },
    ...parts,
  }) as Endpoint;
  const handler = implement(endpoint, async ({ params, query, body }) => ({ params, query, body }));
  const { server } = await aServer([handler]);
  const answer = await server.inject({
    method: endpoint.method,
    url: request.url ?? '/v1/things',
    headers: {
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body !== undefined && { payload: JSON.stringify(request.body) }),
  });
  return { status: answer.statusCode, json: answer.json(), error: answer.json().error };
}

const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('image'), url: Type.String({ minLength: 3 }) }),
]);
const Item = Type.Union([
  Type.Object({
    type: Type.Literal('message'),
    role: Type.String(),
    content: Type.Union([Type.String(), Type.Array(Part)]),
  }),
  Type.Object({
    type: Type.Literal('call'),
    call_id: Type.String(),
    output: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  }),
]);
const Tree = Type.Cyclic(
  { Tree: Type.Object({ v: Type.String(), kids: Type.Optional(Type.Array(Type.Ref('Tree'))) }) },
  'Tree',
);
const ModelBody = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 20 }),
    input: Type.Optional(Type.Union([Type.String(), Type.Array(Item)])),
    usd: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'Whole dollars: `"5"`.' })),
    title: Type.Optional(OneLine({ maxLength: 20, description: 'For people.' })),
    pay: Type.Optional(Type.Union([Type.Literal('mine'), Type.Literal('ours')])),
    max_output_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    at: Type.Optional(Type.String({ format: 'date-time' })),
    tree: Type.Optional(Type.Union([Tree, Type.Null()])),
    strict: Type.Optional(Type.Object({ a: Type.Optional(Type.Integer()) }, { additionalProperties: false })),
    scope: Type.Optional(Type.Enum(['read', 'write'])),
    choice: Type.Optional(
      Type.Union([
        Type.Union([Type.Enum(['none', 'auto']), Type.Object({ name: Type.String() })], {
          description: 'How.',
        }),
        Type.Null(),
      ]),
    ),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  },
  { additionalProperties: true },
);

describe('an invalid body', () => {
  test.each<[string, unknown, string | null, string]>([
    ['a missing field', {}, 'model', '`model` is required.'],
    ['a wrong type', { model: 5 }, 'model', '`model` must be a string.'],
    ['an empty text', { model: '' }, 'model', '`model` must not be empty.'],
    ['a text too long', { model: 'x'.repeat(21) }, 'model', '`model` must have at most 20 characters.'],
    [
      'a text of another form',
      { model: 'm', usd: '5.1' },
      'usd',
      '`usd` is not in the expected format: Whole dollars: `"5"`.',
    ],
    [
      'a text of two lines',
      { model: 'm', title: 'a\nb' },
      'title',
      '`title` must be one line, without control characters.',
    ],
    ['a name of blanks', { model: 'm', title: ' \u3000\t' }, 'title', '`title` must not be blank.'],
    [
      'a name with blanks around it',
      { model: 'm', title: 'a b ' },
      'title',
      '`title` must not start or end with white space.',
    ],
    ['no object at all', [1], null, 'The body must be an object.'],
    ['null', null, null, 'The body must be an object.'],
    ['a union of types', { model: 'm', input: 5 }, 'input', '`input` must be a string or an array.'],
    [
      'a nullable number',
      { model: 'm', max_output_tokens: '1' },
      'max_output_tokens',
      '`max_output_tokens` must be an integer or null.',
    ],
    [
      'another name than those of a union',
      { model: 'm', choice: 'any' },
      'choice',
      '`choice` must be one of `none`, `auto`.',
    ],
    [
      'a type that a union of names and objects lacks',
      { model: 'm', choice: 5 },
      'choice',
      '`choice` must be a string, an object or null.',
    ],
    [
      'a number below its bound',
      { model: 'm', max_output_tokens: 0 },
      'max_output_tokens',
      '`max_output_tokens` must be at least 1.',
    ],
    [
      'a number above its bound',
      { model: 'm', temperature: 2.5 },
      'temperature',
      '`temperature` must be at most 2.',
    ],
    ['one of some words', { model: 'm', pay: 'theirs' }, 'pay', '`pay` must be one of `mine`, `ours`.'],
    ['an enumeration', { model: 'm', scope: 'all' }, 'scope', '`scope` must be one of `read`, `write`.'],
    [
      'an unknown field where none may be',
      { model: 'm', strict: { b: 1 } },
      'strict.b',
      '`strict.b` is not a known field.',
    ],
    ['a time', { model: 'm', at: 'tomorrow' }, 'at', '`at` must be an ISO 8601 time.'],
    [
      'a value in a map',
      { model: 'm', metadata: { 'a b': 1 } },
      'metadata["a b"]',
      '`metadata["a b"]` must be a string.',
    ],
    [
      'an unknown kind of item',
      { model: 'm', input: [{ type: 'song' }] },
      'input[0].type',
      '`input[0].type` must be one of `message`, `call`.',
    ],
    [
      'an item without a kind',
      { model: 'm', input: [{ role: 'user' }] },
      'input[0].type',
      '`input[0].type` must be one of `message`, `call`.',
    ],
    [
      'what the kind of item lacks',
      { model: 'm', input: [{ type: 'call' }] },
      'input[0].call_id',
      '`input[0].call_id` is required.',
    ],
    [
      'the third item',
      {
        model: 'm',
        input: [
          { type: 'call', call_id: '1' },
          { type: 'call', call_id: '2' },
          { type: 'message', role: 'user', content: 7 },
        ],
      },
      'input[2].content',
      '`input[2].content` must be a string or an array.',
    ],
    [
      'a part of an item',
      { model: 'm', input: [{ type: 'message', role: 'user', content: [{ type: 'image', url: 'x' }] }] },
      'input[0].content[0].url',
      '`input[0].content[0].url` must have at least 3 characters.',
    ],
    [
      'a tree',
      { model: 'm', tree: { v: 'a', kids: [{ v: 'b' }, { v: 1 }] } },
      'tree.kids[1].v',
      '`tree.kids[1].v` must be a string.',
    ],
  ])('%s', async (_what, body, param, message) => {
    const { status, error } = await send({ body: ModelBody }, { body });
    expect(error).toMatchObject({ type: 'invalid_request', code: 'invalid_request', param, message });
    expect(status).toBe(400);
  });

  test('is reported without its value', async () => {
    const { json } = await send({ body: ModelBody }, { body: { model: ['sk-secret'], pay: 'sk-secret' } });
    expect(JSON.stringify(json)).not.toContain('sk-secret');
  });

  test('cannot inflate its error', async () => {
    const body = { model: 'm', metadata: { ['k'.repeat(100_000)]: 1 } };
    const { json } = await send({ body: ModelBody }, { body });
    expect(JSON.stringify(json).length).toBeLessThan(500);
  });

  test('is required unless the contract says otherwise', async () => {
    const body = Type.Object({});
    expect((await send({ body }, {})).error).toMatchObject({
      param: null,
      message: 'A JSON body is required.',
    });
    expect((await send({ body, bodyRequired: false }, {})).status).toBe(200);
  });
});

test('a valid body arrives unchanged, with additional members', async () => {
  const body = {
    model: 'm',
    input: [{ type: 'call', call_id: '1', output: null, extra: [1] }],
    vendor: { a: '1' },
  };
  const { json } = await send({ body: ModelBody }, { body });
  expect(json.body).toEqual(body);
});

describe('names of Object.prototype', () => {
  test.each(['__proto__', 'constructor', 'toString', 'then', 'lc', 'hasOwnProperty', 'valueOf'])(
    '%s',
    async (name) => {
      const body = JSON.parse(
        `{"model":"${name}","metadata":{"${name}":"x"},"${name}":{"prototype":{"a":1}}}`,
      );
      const { status, json } = await send({ body: ModelBody }, { body });
      expect(status).toBe(200);
      expect(JSON.stringify(json.body)).toBe(JSON.stringify(body));
      const refused = await send(
        { body: Type.Object({}, { additionalProperties: false }) },
        { body: JSON.parse(`{"${name}":1}`) },
      );
      expect(refused.error).toMatchObject({ param: name });
      const asPath = await send(
        { params: Type.Object({ id: Type.String() }) },
        { path: '/v1/{id}', url: `/v1/${name}` },
      );
      expect(asPath.json.params).toEqual({ id: name });
      const asQuery = await send(
        { query: Type.Object({}, { additionalProperties: true }) },
        { url: `/v1/things?${name}=1` },
      );
      expect(asQuery.status).toBe(200);
    },
  );
});

describe('a query', () => {
  const query = Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
      deep: Type.Optional(Type.Boolean()),
      key: Type.Optional(Type.Array(Type.String())),
    },
    { additionalProperties: false },
  );

  test('is converted from text', async () => {
    const { json } = await send({ query }, { url: '/v1/things?limit=5&deep=true&key=a' });
    expect(json.query).toEqual({ limit: 5, deep: true, key: ['a'] });
    expect((await send({ query }, { url: '/v1/things?key=a&key=b' })).json.query).toEqual({
      limit: 20,
      key: ['a', 'b'],
    });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['limit=1e400', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=%205', 'limit'],
    ['limit=%2B5', 'limit'],
    ['limit=5.', 'limit'],
    [`limit=${'9'.repeat(400)}`, 'limit'],
    ['deep=yes', 'deep'],
    ['unknown=1', 'unknown'],
  ])('%s is rejected', async (text, param) => {
    const { status, error } = await send({ query }, { url: `/v1/things?${text}` });
    expect([status, error.param]).toEqual([400, param]);
  });
});

describe('a path', () => {
  const integer = Type.Object({ id: Type.Integer() });

  test('passes on its decoded segments', async () => {
    const params = Type.Object({ id: Type.String(), key: Type.String() });
    const { json } = await send({ params }, { path: '/v1/{id}/keys/{key}', url: '/v1/a%20b/keys/c%2Fd' });
    expect(json.params).toEqual({ id: 'a b', key: 'c/d' });
    const { json: whole } = await send({ params: integer }, { path: '/v1/{id}', url: '/v1/42' });
    expect(whole.params).toEqual({ id: 42 });
  });

  test('that can match nothing is not found', async () => {
    const answer = await send({ params: integer }, { path: '/v1/things/{id}', url: '/v1/things/abc' });
    expect(answer.error).toMatchObject({ type: 'not_found', code: 'not_found', param: null });
    expect(answer.error).toMatchObject({ message: 'There is no thing "abc".' });
    expect(
      (await send({ params: integer }, { path: '/v1/{id}', url: `/v1/${'1'.repeat(600)}` })).status,
    ).toBe(404);
  });

  test('may end with a part that contains slashes', async () => {
    const params = Type.Object({ id: Type.String({ minLength: 1 }) });
    const path = '/v1/models/{id...}';
    const { json } = await send({ params }, { path, url: '/v1/models/openai/gpt-5' });
    expect(json.params).toEqual({ id: 'openai/gpt-5' });
    expect((await send({ params }, { path, url: '/v1/models/' })).status).toBe(404);
  });
});

test('declared headers are validated', async () => {
  const headers = Type.Object({ 'Idempotency-Key': Type.Optional(Type.String({ maxLength: 8 })) });
  expect((await send({ headers }, { headers: { 'idempotency-key': 'short' } })).status).toBe(200);
  const { status, error } = await send({ headers }, { headers: { 'idempotency-key': 'x'.repeat(9) } });
  expect([status, error.param]).toEqual([400, 'Idempotency-Key']);
});

describe('the site surface', () => {
  const body = Type.Object(
    {
      body: Type.String({ minLength: 1 }),
      count: Type.Integer(),
      zone: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    },
    { additionalProperties: false },
  );
  const site = (value: unknown) => send({ body }, { path: '/api/things', url: '/api/things', body: value });

  test('reports every fault by field', async () => {
    const { status, json } = await site({ body: '', zone: 1, extra: true });
    expect(status).toBe(422);
    expect(json).toEqual({
      message: 'The given data was invalid.',
      errors: {
        count: ['`count` is required.'],
        extra: ['`extra` is not a known field.'],
        body: ['`body` must not be empty.'],
        zone: ['`zone` must be a string or null.'],
      },
    });
  });

  test('reports an empty name once', async () => {
    const name = OneLine({ maxLength: 20, description: 'A name.' });
    const request = { path: '/api/things', url: '/api/things', body: { name: '' } };
    const { json } = await send({ body: Type.Object({ name }) }, request);
    expect(json.errors).toEqual({ name: ['`name` must not be empty.'] });
  });

  test('reports a body that is not an object', async () => {
    expect((await site('text')).json.errors).toEqual({ body: ['The body must be an object.'] });
  });
});

test.each(['-', 'a', '(', '0', '1.'])(
  'the validation of a million characters ends: %s',
  async (character) => {
    const body = Type.Object({
      at: Type.String({ format: 'date-time' }),
      day: Type.String({ format: 'date' }),
      usd: Type.String({ pattern: '^-?[0-9]+(\\.[0-9]{1,9})?$' }),
    });
    const text = character.repeat(1_000_000 / character.length);
    const parts = { body, bodyLimit: 4_000_000 };
    expect((await send(parts, { body: { at: text, day: text, usd: text } })).status).toBe(400);
  },
  60_000,
);
