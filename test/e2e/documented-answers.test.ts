import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, scopeNames } from '../../src/shared/contract/endpoint.ts';
import { SseReader } from '../../src/shared/sse.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { documentedPath, endpoints } from '../support/endpoints.ts';
import { type ExampleCall, type ExampleIds, exampleOf, requestOf } from '../support/example-calls.ts';
import { openSocket } from '../support/socket-client.ts';
import { dropIdleConnections } from '../support/start-daemon.ts';
import { type Prism, startPrism, violationsOf } from '../support/start-prism.ts';
import { createLogin } from '../support/users.ts';

let place: DaemonWithStranger;
let prism: Prism;
let document: object;

/** The id of a key: a caller who may not set its limits is rejected before the body is read. */
let ownKey: string;

beforeAll(async () => {
  place = await startWithStranger();
  ownKey = (await place.issue(['responses'])).id;
  const { daemon } = place;
  const text = await (await daemon.fetch('/v1/openapi.json')).text();
  document = JSON.parse(text);
  const file = join(daemon.home, 'openapi.json');
  await writeFile(file, text);
  prism = await startPrism(file, daemon.url);
});

afterAll(async () => {
  await prism.stop();
  await place.daemon.stop();
});

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** A call through Prism. */
async function call(
  endpoint: Endpoint,
  example: ExampleCall,
  { as, ...init }: RequestInit & { as?: string } = {},
): Promise<Response> {
  const { path, ...request } = requestOf(endpoint, example);
  const headers = { ...request.headers, ...(as !== undefined && bearer(as)), ...init.headers };
  return await fetch(prism.url + path, { ...request, ...init, headers });
}

async function expectDescribed(answer: Response, status: number): Promise<void> {
  expect([answer.status, violationsOf(answer)]).toEqual([status, []]);
  await answer.body?.cancel();
}

const nothing: ExampleIds = { workspace: 'me', response: 'resp_1', request: 'req_1', key: 'key_1' };
const endsTheDaemon = (endpoint: Endpoint) => endpoint.id === 'stopDaemon';
/** Endpoints that sign the calling login out. */
const endsTheLogin = (endpoint: Endpoint) => endpoint.id === 'signOut';
/** Their examples are refused: what they delete is needed, or they need a Lightning node, a file or another daemon. */
const refused = new Set([
  ...['deleteProfile', 'revokeCurrentToken'],
  ...['fundWallet', 'resolvePayment', 'trustNode'],
  ...['addEngineModel', 'checkEngineModel', 'removeEngineModel', 'getAsset'],
  'removeDaemon',
]);
const isRefused = ({ id }: Endpoint) => refused.has(id);
const isEndless = (endpoint: Endpoint) => endpoint.stream?.always === true;
const named = (chosen: readonly Endpoint[]) => chosen.map((endpoint) => [endpoint.id, endpoint] as const);
const membersOf = (schema: unknown) =>
  Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});

describe.each(named(endpoints))('%s answers as described', (_id, endpoint) => {
  const { access, params, query, body, method } = endpoint;
  /** Of input that is not accepted. */
  const invalid = endpoint.surface === 'site' ? 422 : 400;

  const kinds = (['key', 'login', 'anonymous'] as const).filter((kind) => {
    if (kind === 'anonymous') return access.anonymous;
    // Answers other callers that they are no agent.
    if (endpoint.id === 'getAgent') return false;
    return kind === 'login' ? access.login : access.apiKey && !access.loginOnly;
  });
  test.each(endsTheDaemon(endpoint) || isEndless(endpoint) || isRefused(endpoint) ? [] : kinds)(
    'an allowed caller: %s',
    async (kind) => {
      const key = (await place.issue(scopeNames)).secret;
      const ids = await place.createExamples(key, endpoint);
      const login = endsTheLogin(endpoint)
        ? (await createLogin(place.daemon, place.daemon.login)).secret
        : place.daemon.login;
      const init = kind === 'anonymous' ? {} : { as: kind === 'key' ? key : login };
      // A socket is not opened by a plain request.
      const expected = endpoint.socket ? 400 : 200;
      await expectDescribed(await call(endpoint, exampleOf(endpoint, ids), init), expected);
    },
  );

  test.each([...(access.anonymous ? [] : ['none']), 'gwk_wrong'])('the credential %s', async (credential) => {
    const init = credential === 'none' ? {} : { as: credential };
    await expectDescribed(await call(endpoint, exampleOf(endpoint, nothing), init), 401);
  });

  test.each(
    access.anonymous || access.apiKey === 'any' ? [] : [access.apiKey === 'plugins' ? 'keys' : 'plugins'],
  )('a key with no scope but %s', async (scope) => {
    const { secret } = await place.issue([scope]);
    const answer = await call(endpoint, exampleOf(endpoint, nothing), { as: secret });
    await expectDescribed(answer, access.loginOnly ? 401 : 403);
  });

  test.each(membersOf(params))('an unknown %s', async (name) => {
    const example = exampleOf(endpoint, nothing);
    for (const value of ['nothing-at-all', '%00', '\ud83d\ude00']) {
      // It would add a peer, budget or alert of this name.
      const isOwnName =
        endpoint.id === 'putPeer'
          ? name === 'peer'
          : ['putBudget', 'putAlert'].includes(endpoint.id) && name === 'id';
      if (isOwnName && value === 'nothing-at-all') continue;
      const answer = await call(
        endpoint,
        { ...example, params: { ...example.params, [name]: value } },
        { as: place.daemon.login },
      );
      expect([403, 404]).toContain(answer.status);
      await expectDescribed(answer, answer.status);
    }
  });

  test.each(membersOf(query))('an invalid %s', async (name) => {
    const answer = await call(
      endpoint,
      { ...exampleOf(endpoint, nothing), query: { [name]: '\0'.repeat(300) } },
      {
        as: place.daemon.login,
      },
    );
    await expectDescribed(answer, invalid);
  });

  test.each(body === undefined ? [] : ['[]', '"text"', '{"model":5,"name":7}'])(
    'the body %s',
    async (text) => {
      const answer = await call(
        endpoint,
        { ...exampleOf(endpoint, { ...nothing, key: ownKey }), body: JSON.parse(text) },
        access.login ? { as: place.daemon.login } : {},
      );
      // Prism passes a bare text on without its quotes.
      await expectDescribed(answer, text === '"text"' ? 400 : invalid);
    },
  );

  test.each(method === 'GET' || endsTheDaemon(endpoint) ? [] : ['text/plain', 'multipart/form-data'])(
    'a body of type %s',
    async (type) => {
      const as = access.login && { as: place.daemon.login };
      const init = { ...as, body: 'text', headers: { 'content-type': type } };
      await expectDescribed(await call(endpoint, exampleOf(endpoint, nothing), init), 415);
    },
  );
});

test('a stranger’s calls are answered as described', async () => {
  for (const endpoint of endpoints.filter((it) => it.params !== undefined && !it.access.anonymous)) {
    const ids = await place.createExamples(place.daemon.key, endpoint);
    const answer = await call(endpoint, exampleOf(endpoint, ids), { as: place.stranger.login });
    expect([403, 404]).toContain(answer.status);
    await expectDescribed(answer, answer.status);
  }
});

describe('a stream', () => {
  /** Of the schema at a place in the description. */
  const checkOf = (...place: string[]) => {
    const pointer = place
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'openapi.json');
    return ajv.compile({ $ref: `openapi.json#/${pointer}` });
  };

  const placeOf = (endpoint: Endpoint) => ['paths', documentedPath(endpoint), endpoint.method.toLowerCase()];

  const eventCheck = (endpoint: Endpoint) =>
    checkOf(...placeOf(endpoint), 'responses', '200', 'content', 'text/event-stream', 'schema');

  const endpointOf = (wanted: string) => endpoints.find(({ id }) => id === wanted) as Endpoint;

  const dataOf = async (answer: Response, isEnough = (_data: string) => false): Promise<string[]> => {
    const reader = new SseReader();
    const all: string[] = [];
    for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
      all.push(...reader.push(chunk).map(({ data }) => data));
      if (all.some(isEnough)) break;
    }
    return all;
  };

  test.each(named(endpoints.filter(({ stream, body }) => body && stream?.done && !stream.always)))(
    'of %s contains described events and its last line',
    async (_id, endpoint) => {
      const check = eventCheck(endpoint);
      await dropIdleConnections(place.daemon);
      for (const model of ['sim/assistant', 'sim/echo']) {
        const { path, ...init } = requestOf(endpoint, exampleOf(endpoint, nothing));
        const body = { ...JSON.parse(init.body ?? '{}'), model, stream: true };
        const answer = await place.daemon.fetch(path, { json: body });
        expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
        const data = await dataOf(answer);
        expect(data.pop()).toBe('[DONE]');
        expect(data.length).toBeGreaterThan(2);
        for (const line of data) expect([check(JSON.parse(line)), check.errors]).toEqual([true, null]);
      }
      expect(check({})).toBe(false);
    },
  );

  test.each(['createResponse', 'createChatCompletion'])(
    'of %s that breaks off contains described events and its last line',
    async (id) => {
      const endpoint = endpointOf(id);
      const check = eventCheck(endpoint);
      await dropIdleConnections(place.daemon);
      const { path, ...init } = requestOf(endpoint, exampleOf(endpoint, nothing));
      const body = { ...JSON.parse(init.body ?? '{}'), model: 'sim/broken', stream: true };
      const data = await dataOf(await place.daemon.fetch(path, { json: body }));
      expect(data.pop()).toBe('[DONE]');
      expect(data.filter((line) => 'error' in JSON.parse(line))).toHaveLength(1);
      for (const line of data) expect([check(JSON.parse(line)), check.errors]).toEqual([true, null]);
    },
  );

  test('reports the provider and the cost as described', async () => {
    const json = { model: 'sim/echo', input: 'Hello.', stream: true };
    const data = await dataOf(await place.daemon.fetch('/v1/responses', { json }));
    const events = data.slice(0, -1).map((line) => JSON.parse(line) as { type: string });
    for (const [type, name] of [
      ['service:route', 'RouteEvent'],
      ['service:cost', 'CostEvent'],
    ] as const) {
      const check = checkOf('components', 'schemas', name);
      const event = events.find((it) => it.type === type);
      expect([check(event), check.errors]).toEqual([true, null]);
    }
  });

  test('on a socket is described, and so are the errors of rejected messages', async () => {
    const check = checkOf(...placeOf(endpointOf('connectResponses')), 'x-websocket', 'event');
    const socket = await openSocket(`${place.daemon.url}/v1/responses`, { key: place.daemon.key });
    const asked = { type: 'response.create', input: 'Hello.' };
    for (const message of [
      { ...asked, model: 'sim/echo' },
      { ...asked, model: 'sim/broken' },
      { ...asked, model: 'sim/nobody' },
      { type: 'response.make' },
      'no JSON',
    ]) {
      for (const event of await socket.ask(message))
        expect([event, check(event), check.errors]).toEqual([event, true, null]);
    }
    expect(check({ type: 'error' })).toBe(false);
    socket.disconnect();
  });

  test('of a stored response contains described events and its last line', async () => {
    const check = eventCheck(endpoints.find(({ id }) => id === 'getResponse') as Endpoint);
    const json = { model: 'sim/assistant', input: 'Hello.', background: true, stream: true };
    const begun = await dataOf(await place.daemon.fetch('/v1/responses', { json }));
    const { response } = JSON.parse(begun[0] as string) as { response: { id: string } };
    const data = await dataOf(await place.daemon.fetch(`/v1/responses/${response.id}?stream=true`));
    expect(data).toEqual(begun);
    expect(data.pop()).toBe('[DONE]');
    for (const line of data) expect([check(JSON.parse(line)), check.errors]).toEqual([true, null]);
  });

  test('of events contains described events', async () => {
    const endpoint = endpoints.find(({ id }) => id === 'streamEvents') as Endpoint;
    const check = eventCheck(endpoint);
    const { request } = await place.createExamples(place.daemon.key);
    const answer = await place.daemon.fetch('/v1/events?after=0', { headers: bearer(place.daemon.login) });
    const data = await dataOf(answer, (line) => line.includes(request) && line.includes('request.completed'));
    for (const line of data) expect([check(JSON.parse(line)), check.errors]).toEqual([true, null]);
    expect(check({})).toBe(false);
  });
});

test('stopping the daemon is answered as described', async () => {
  const endpoint = endpoints.find(endsTheDaemon) as Endpoint;
  await expectDescribed(await call(endpoint, {}, { as: place.daemon.login }), 200);
});
