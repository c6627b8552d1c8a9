import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { failures } from '../../src/shared/errors.ts';
import { documentedPath, endpoints } from '../support/endpoints.ts';
import { exampleOf, requestOf } from '../support/example-calls.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into by path.
type Json = any;

let daemon: RunningDaemon;
let document: Json;

beforeAll(async () => {
  daemon = await startDaemon();
  document = await (await fetch(`${daemon.url}/v1/openapi.json`)).json();
  // The example page is public, so that no call gets 401 instead.
  const headers = { authorization: `Bearer ${daemon.login}` };
  await daemon.fetch('/api/shouts', {
    json: { body: 'Hear me.' },
    headers: { ...headers, 'content-type': 'application/json' },
  });
});

afterAll(async () => {
  await daemon.stop();
});

function operationOf(endpoint: Endpoint): Json {
  const operation = document.paths[documentedPath(endpoint)]?.[endpoint.method.toLowerCase()];
  if (operation === undefined)
    throw new Error(`${endpoint.id} is not served: list its handler in handlersOf of src/daemon/app.ts`);
  return operation;
}

/** The addresses that a path with names in it stands for. */
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const things = { workspace: 'me', response: 'resp_1', request: 'req_1', key: 'key_1' };

// First, as the validators block this process for longer than the daemon keeps an idle connection open.
describe('the served routes', () => {
  test.each(
    [...new Set(endpoints.map(documentedPath))].flatMap((path) => methods.map((method) => [method, path])),
  )('%s %s is documented if it is served', async (method, path) => {
    const isIt = (it: Endpoint) => documentedPath(it) === path && it.method === method;
    // A name of ours may also be taken for an id: `compact` for that of a response.
    const isIdOf = (it: Endpoint) =>
      !path.includes('{') && it.method === method && patternOf(documentedPath(it)).test(path);
    const described = endpoints.find(isIt) ?? endpoints.find(isIdOf);
    const endpoint = described ?? (endpoints.find((it) => documentedPath(it) === path) as Endpoint);
    const { path: url } = requestOf(endpoint, exampleOf(endpoint, things));
    const answer = await fetch(daemon.url + url, { method });
    await answer.body?.cancel();
    // Without a credential: what is served asks for one, or answers because it needs none (until this address asked too often), or asks for a body.
    const isMissing =
      answer.status === 404 && path.includes('{') && described?.access.anonymous !== undefined;
    const isServed = isMissing || [200, 400, 401, 415, 422, 429].includes(answer.status);
    expect(isServed).toBe(described !== undefined);
    if (!isServed) expect(answer.status).toBe(405);
  });
});

describe('the description of the API', () => {
  test('is OpenAPI 3.1.0 of version 1.0.0-beta', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0.0-beta']);
  });

  test('begins with what readers look for', () => {
    expect((document.tags as { name: string }[]).slice(0, 2).map(({ name }) => name)).toEqual([
      'Model calls',
      'Models',
    ]);
  });

  test('is valid for one validator', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect([valid, errors]).toEqual([true, undefined]);
  });

  test('is valid for another validator', async () => {
    const config = await createConfig({ extends: ['minimal'], rules: rulesOfRedocly });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
  });

  test('gives the type of every enum', () => {
    const untyped: string[] = [];
    const look = (value: Json, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      if ((value.enum || value.const !== undefined) && !value.type && !place.endsWith('/properties'))
        untyped.push(place);
      for (const [name, inner] of Object.entries(value)) look(inner, `${place}/${name}`);
    };
    look(document, '');
    expect(untyped).toEqual([]);
  });

  test('lists the types of errors, with the one of model calls', () => {
    const { type } = document.components.schemas.Error.properties.error.properties;
    expect(type.enum).toEqual(expect.arrayContaining(['invalid_request', 'unauthorized', 'authentication']));
    for (const failure of Object.values(failures)) expect(type.enum).toContain(failure.type);
  });

  test('describes exactly the served routes', () => {
    const described = Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const declared = endpoints.map((endpoint) => `${endpoint.method} ${documentedPath(endpoint)}`);
    expect(described.toSorted()).toEqual(declared.toSorted());
  });
});

const rulesOfRedocly = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'no-unused-components': 'error',
  'no-ambiguous-paths': 'off',
  'operation-operationId': 'error',
  'operation-operationId-unique': 'error',
  'operation-operationId-url-safe': 'error',
  'operation-parameters-unique': 'error',
  'operation-summary': 'error',
  'operation-description': 'error',
  'operation-4xx-response': 'error',
  // What a handshake is answered with is 101.
  'operation-2xx-response': 'off',
  'path-parameters-defined': 'error',
  'parameter-description': 'error',
  'security-defined': 'error',
  'tag-description': 'error',
  'operation-tag-defined': 'error',
  'no-invalid-media-type-examples': 'error',
  'no-server-trailing-slash': 'off',
} as const;

describe.each(endpoints.map((endpoint) => [endpoint.id, endpoint] as const))('%s', (_id, endpoint) => {
  test('has summaries and descriptions', () => {
    const { summary, description, tags } = operationOf(endpoint);
    expect(summary).toMatch(/^[A-Z][^.]+\.$/);
    expect(summary.length).toBeLessThan(60);
    expect(description).toMatch(/\.$/);
    expect(tags).toEqual([endpoint.tag]);
    expect(document.tags).toContainEqual({ name: endpoint.tag, description: expect.stringMatching(/\.$/) });
  });

  test('documents who may call', () => {
    const { access } = endpoint;
    const operation = operationOf(endpoint);
    expect(operation.security).toEqual(access.anonymous ? [{}, { bearer: [] }] : [{ bearer: [] }]);
    const scopes = access.apiKey === undefined || access.apiKey === 'any' ? [] : [access.apiKey].flat();
    expect(operation['x-scopes'] ?? []).toEqual(scopes);
    for (const scope of scopes) expect(operation.description).toContain(`\`${scope}\``);
    expect(operation['x-login-only'] ?? false).toBe(access.loginOnly ?? false);
  });

  test('documents requests', () => {
    const { requestBody, parameters = [] } = operationOf(endpoint);
    expect(requestBody !== undefined).toBe(endpoint.body !== undefined);
    if (requestBody) expect(Object.keys(requestBody.content)).toEqual(['application/json']);
    const named = ['params', 'query', 'headers'].flatMap((part) =>
      Object.keys((endpoint[part as 'params'] as Json)?.properties ?? {}),
    );
    const { access, surface } = endpoint;
    const isOfWorkspace = surface !== 'site' && !access.anonymous && access.login && access.login !== 'owner';
    const paying = endpoint.payable ? [...named, 'PAYMENT-SIGNATURE', 'Payment-Authorization'] : named;
    const expected = isOfWorkspace ? [...paying, 'X-Workspace-Id'] : paying;
    expect(parameters.map(({ name }: Json) => name)).toEqual(expected);
  });

  test('documents answers', () => {
    const { responses } = operationOf(endpoint);
    const good = endpoint.socket ? '101' : '200';
    expect(responses).toHaveProperty(good);
    if (endpoint.socket) {
      const { message, event } = operationOf(endpoint)['x-websocket'];
      expect([message, event]).not.toContain(undefined);
    } else {
      const types = Object.keys(responses[200].content);
      expect(types.includes('text/event-stream')).toBe(endpoint.stream !== undefined);
      const isText = endpoint.contentType !== undefined;
      expect(types.includes('application/json')).toBe(!endpoint.stream?.always && !isText);
      if (isText) expect(types).toEqual([endpoint.contentType].flat());
      for (const { schema } of Object.values<Json>(responses[200].content)) expect(schema).toBeDefined();
    }
    for (const [status, response] of Object.entries<Json>(responses)) {
      expect(response.headers).toHaveProperty('x-request-id');
      if (status === good) continue;
      expect(response.description).toMatch(/^`[a-z_]+`: [A-Z].*\.$/);
      const site = status === '422' ? 'SiteInvalid' : 'SiteError';
      const surface = status === '431' ? 'v1' : endpoint.surface;
      const name = { site, v1: 'Error', messages: 'MessagesError' }[surface];
      const usual = { $ref: `#/components/schemas/${name}` };
      const { schema } = response.content['application/json'];
      expect(endpoint.ownFaults ? (schema.anyOf?.[0] ?? schema) : schema).toEqual(usual);
    }
    const bad = endpoint.surface === 'site' ? '422' : '400';
    const busy = endpoint.surface === 'messages' ? '529' : '503';
    for (const status of [bad, '401', '403', '500', busy]) expect(responses).toHaveProperty(status);
  });
});
