import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { type Endpoint, endpoint } from '../../../src/shared/contract/endpoint.ts';
import { derivedCodes, openApiDocument } from '../../../src/shared/contract/openapi.ts';
import { endpoints } from '../../support/endpoints.ts';

const Pet = Type.Object({ id: Type.String(), name: Type.String() }, { $id: 'Pet' });
const Tree = Type.Cyclic({ Tree: Type.Object({ pet: Pet, children: Type.Array(Type.Ref('Tree')) }) }, 'Tree');

const listPets = endpoint({
  id: 'listPets',
  method: 'GET',
  path: '/v1/pets',
  summary: 'List pets.',
  tag: 'Models',
  access: { anonymous: true },
  query: Type.Object({ limit: Type.Optional(Type.Integer({ description: 'How many.' })) }),
  result: Type.Object({ data: Type.Array(Pet), best: Type.Optional(Pet) }),
  errors: ['model_not_found'],
});
const makePet = endpoint({
  id: 'makePet',
  method: 'POST',
  path: '/v1/pets',
  summary: 'Make a pet.',
  tag: 'Models',
  access: { apiKey: ['runs', 'threads'], login: 'member' },
  unauthorizedType: 'unauthorized',
  headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String({ maxLength: 128 })) }),
  body: Type.Object({ name: Type.String(), stream: Type.Optional(Type.Boolean()) }),
  bodyRequired: false,
  result: Pet,
  stream: { event: Type.Object({ type: Type.String() }), done: true, always: false },
  responseHeaders: { 'x-service-model': 'Who made it.' },
  errors: ['insufficient_balance', 'no_route'],
});
const getTree = endpoint({
  id: 'getTree',
  method: 'GET',
  path: '/v1/trees/{name...}',
  summary: 'Get a tree.',
  tag: 'Usage',
  access: { login: 'owner', loginOnly: true },
  params: Type.Object({ name: Type.String() }),
  result: Type.Object({ tree: Tree, pair: Type.Tuple([Type.String(), Type.Integer()]) }),
  errors: [],
});
const siteCreate = endpoint({
  id: 'siteCreate',
  method: 'PUT',
  path: '/api/shouts/{id}',
  summary: 'Shout.',
  tag: 'Shouts',
  access: { apiKey: 'workspace', login: 'any' },
  params: Type.Object({ id: Type.Integer() }),
  body: Type.Object({ body: Type.String() }, { additionalProperties: false }),
  result: Type.Object({ data: Pet }),
  errors: ['not_found'],
});
const events = endpoint({
  id: 'events',
  method: 'GET',
  path: '/v1/events',
  summary: 'Follow.',
  tag: 'Events',
  access: { login: 'any' },
  result: Type.Unknown(),
  stream: { event: Type.Object({ at: Type.String() }), done: false, always: true },
  errors: [],
});
const metrics = endpoint({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Metrics.',
  tag: 'Daemon',
  access: { anonymous: true },
  contentType: 'text/plain',
  result: Type.String(),
  errors: [],
});

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into by path.
type Json = any;
const describeAll = (all: readonly Endpoint[]): Json => openApiDocument(all, { version: '1.0.0-beta' });
const document = describeAll([listPets, makePet, getTree, siteCreate, events, metrics]);

describe('the description of the API', () => {
  test('is valid OpenAPI 3.1 for one validator', async () => {
    const outcome = await new Validator().validate(structuredClone(document));
    expect(outcome.errors).toBeUndefined();
    expect(outcome.valid).toBe(true);
  });

  test('is valid OpenAPI 3.1 for another validator', async () => {
    const config = await createConfig({
      rules: { struct: 'error', 'no-unresolved-refs': 'error', 'path-parameters-defined': 'error' },
    });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test('states its format and version', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0-beta');
  });
});

describe('an operation', () => {
  test('refers to named schemas, each defined once', () => {
    const { schema } = document.paths['/v1/pets'].get.responses[200].content['application/json'];
    expect(schema.properties.data.items).toEqual({ $ref: '#/components/schemas/Pet' });
    expect(schema.properties.best).toEqual({ $ref: '#/components/schemas/Pet' });
    expect(document.components.schemas.Pet).toMatchObject({ required: ['id', 'name'] });
    expect(JSON.stringify(document)).not.toContain('$id');
  });

  test('refers to a recursive schema', () => {
    const { properties } =
      document.paths['/v1/trees/{name}'].get.responses[200].content['application/json'].schema;
    expect(properties.tree).toEqual({ $ref: '#/components/schemas/Tree' });
    expect(document.components.schemas.Tree.properties.children.items).toEqual({
      $ref: '#/components/schemas/Tree',
    });
    expect(properties.pair.prefixItems).toHaveLength(2);
  });

  test('documents parameters of path, query and header', () => {
    expect(document.paths['/v1/trees/{name}'].get.parameters).toEqual([
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
    ]);
    expect(document.paths['/v1/pets'].get.parameters).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'How many.',
        schema: { type: 'integer' },
      },
    ]);
    expect(document.paths['/v1/pets'].post.parameters[0]).toMatchObject({ in: 'header', required: false });
  });

  test('documents whether its body is required', () => {
    expect(document.paths['/v1/pets'].post.requestBody.required).toBe(false);
    expect(document.paths['/api/shouts/{id}'].put.requestBody.required).toBe(true);
    expect(document.paths['/v1/pets'].get.requestBody).toBeUndefined();
  });

  test('documents who may call', () => {
    expect(document.paths['/v1/pets'].get.security).toEqual([{}, { bearer: [] }]);
    expect(document.paths['/v1/pets'].post.security).toEqual([{ bearer: [] }]);
    expect(document.paths['/v1/pets'].post['x-scopes']).toEqual(['runs', 'threads']);
    expect(document.paths['/v1/trees/{name}'].get['x-login-only']).toBe(true);
  });

  test('documents a stream alongside the JSON answer, or alone', () => {
    const either = document.paths['/v1/pets'].post.responses[200];
    expect(Object.keys(either.content)).toEqual(['application/json', 'text/event-stream']);
    expect(either.headers['x-service-model'].description).toBe('Who made it.');
    expect(Object.keys(document.paths['/v1/events'].get.responses[200].content)).toEqual([
      'text/event-stream',
    ]);
    expect(Object.keys(document.paths['/metrics'].get.responses[200].content)).toEqual(['text/plain']);
  });

  test('lists its own failures and those of the server', () => {
    const { responses } = document.paths['/v1/pets'].post;
    expect(Object.keys(responses).map(Number)).toEqual([
      200, 400, 401, 402, 403, 404, 408, 413, 415, 431, 500, 503,
    ]);
    expect(responses[403].description).toContain('`out_of_scope`');
    expect(responses[503].description).toContain('`no_route`');
    expect(responses[503].headers['retry-after']).toBeDefined();
    expect(document.paths['/v1/pets'].get.responses[429]).toBeDefined();
    expect(document.paths['/v1/trees/{name}'].get.responses[401].description).toContain('`signed_out`');
  });

  test('has the failures of its surface', () => {
    const schemaOf = (path: string, method: string, status: number) =>
      document.paths[path][method].responses[status].content['application/json'].schema.$ref;
    expect(schemaOf('/v1/pets', 'post', 400)).toBe('#/components/schemas/Error');
    expect(schemaOf('/api/shouts/{id}', 'put', 422)).toBe('#/components/schemas/SiteInvalid');
    expect(schemaOf('/api/shouts/{id}', 'put', 404)).toBe('#/components/schemas/SiteError');
  });
});

test('two different schemas cannot share a name', () => {
  const other = { ...listPets, id: 'other', path: '/v1/other', result: Type.String({ $id: 'Pet' }) };
  expect(() => describeAll([listPets, other])).toThrow('two different schemas are named Pet');
});

test.each(endpoints)('$id lists only errors that do not follow from the rest of its contract', (each) => {
  const derived = derivedCodes(each);
  expect(each.errors?.filter((code) => derived.includes(code)) ?? []).toEqual([]);
});
