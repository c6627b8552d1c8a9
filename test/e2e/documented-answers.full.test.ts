import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Endpoint, scopeNames } from '../../src/shared/contract/endpoint.ts';
import { SseReader } from '../../src/shared/http/sse.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { DescribedAnswers } from '../support/described-answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { type ExampleCall, type ExampleIds, exampleOf, requestOf } from '../support/example-calls.ts';
import { openSocket } from '../support/socket-client.ts';
import { dropIdleConnections } from '../support/start-daemon.ts';
import { type Prism, startPrism, violationsOf } from '../support/start-prism.ts';
import { createLogin } from '../support/users.ts';

let place: DaemonWithStranger;
let prism: Prism;
let described: DescribedAnswers;

/** The id of a key: a caller who may not set its limits is rejected before the body is read. */
let ownKey: string;

beforeAll(async () => {
  place = await startWithStranger();
  ownKey = (await place.issue(['responses'])).id;
  const { daemon } = place;
  const text = await (await daemon.fetch('/v1/openapi.json')).text();
  described = new DescribedAnswers(JSON.parse(text));
  const file = join(daemon.home, 'openapi.json');
  await writeFile(file, text);
  prism = await startPrism(file, daemon.url);
});

afterAll(async () => {
  await prism.stop();
  await place.daemon.stop();
});

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Prism sees the answers of these: a second opinion on how answers are compared, at many times the cost. */
const sampled = new Set([...Map.groupBy(endpoints, ({ tag }) => tag).values()].map(([first]) => first?.id));

interface Calling extends RequestInit {
  /** A credential; without one the call is anonymous. */
  as?: string | undefined;
}

async function call(
  endpoint: Endpoint,
  example: ExampleCall,
  { as, ...init }: Calling = {},
): Promise<Response> {
  const { path, ...request } = requestOf(endpoint, example);
  const headers = { ...request.headers, ...(as !== undefined && bearer(as)), ...init.headers };
  const { url } = sampled.has(endpoint.id) ? prism : place.daemon;
  return await fetch(url + path, { ...request, ...init, headers });
}

async function expectDescribed(endpoint: Endpoint, answer: Response, status: number): Promise<void> {
  const { headers } = answer;
  const faults = described.faultsOf(endpoint, { status: answer.status, headers, text: await answer.text() });
  expect([answer.status, faults, violationsOf(answer)]).toEqual([status, [], []]);
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
  ...['changeConfiguration', 'removeDaemon'],
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
    // A key may only rotate itself and those it issued.
    if (endpoint.id === 'rotateKey') return kind === 'login';
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
      const as = { key, login, anonymous: undefined }[kind];
      // A socket is not opened by a plain request.
      const expected = endpoint.socket ? 400 : 200;
      await expectDescribed(endpoint, await call(endpoint, exampleOf(endpoint, ids), { as }), expected);
    },
  );

  test.each([...(access.anonymous ? [] : ['none']), 'gwk_wrong'])('the credential %s', async (credential) => {
    const init = credential === 'none' ? {} : { as: credential };
    await expectDescribed(endpoint, await call(endpoint, exampleOf(endpoint, nothing), init), 401);
  });

  test.each(
    access.anonymous || access.apiKey === 'any' ? [] : [access.apiKey === 'plugins' ? 'keys' : 'plugins'],
  )('a key with no scope but %s', async (scope) => {
    const { secret } = await place.issue([scope]);
    const answer = await call(endpoint, exampleOf(endpoint, nothing), { as: secret });
    await expectDescribed(endpoint, answer, access.loginOnly ? 401 : 403);
  });

  test.each(membersOf(params))('an unknown %s', async (name) => {
    const example = exampleOf(endpoint, nothing);
    for (const value of ['nothing-at-all', '%00', '\ud83d\ude00']) {
      // It would add a peer, budget, alert or key of this name, or delete none.
      const isOwnName =
        endpoint.id === 'putPeer'
          ? name === 'peer'
          : /^(put|delete)NamedProviderKey$/.test(endpoint.id)
            ? name === 'name'
            : ['putBudget', 'putAlert'].includes(endpoint.id) && name === 'id';
      if (isOwnName && value === 'nothing-at-all') continue;
      const answer = await call(
        endpoint,
        { ...example, params: { ...example.params, [name]: value } },
        { as: place.daemon.login },
      );
      expect([403, 404]).toContain(answer.status);
      await expectDescribed(endpoint, answer, answer.status);
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
    await expectDescribed(endpoint, answer, invalid);
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
      const isUnquoted = text === '"text"' && sampled.has(endpoint.id);
      await expectDescribed(endpoint, answer, isUnquoted ? 400 : invalid);
    },
  );

  test.each(method === 'GET' || endsTheDaemon(endpoint) ? [] : ['text/plain', 'multipart/form-data'])(
    'a body of type %s',
    async (type) => {
      const as = access.login && { as: place.daemon.login };
      const init = { ...as, body: 'text', headers: { 'content-type': type } };
      await expectDescribed(endpoint, await call(endpoint, exampleOf(endpoint, nothing), init), 415);
    },
  );
});

test('a stranger’s calls are answered as described', async () => {
  for (const endpoint of endpoints.filter((it) => it.params !== undefined && !it.access.anonymous)) {
    const ids = await place.createExamples(place.daemon.key, endpoint);
    const answer = await call(endpoint, exampleOf(endpoint, ids), { as: place.stranger.login });
    expect([403, 404]).toContain(answer.status);
    await expectDescribed(endpoint, answer, answer.status);
  }
});

describe('an answer that is not as described is found:', () => {
  const json = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'req_1' };
  const failure = { type: 'not_found', code: 'not_found', message: 'No.', param: null, request_id: 'req_1' };
  const described404 = {
    status: 404,
    headers: json as Record<string, string>,
    body: { error: failure } as object,
  };
  test.each<[string, Partial<typeof described404>, string[]]>([
    ['as described', {}, []],
    ['another status', { status: 418 }, ['the status 418 is not described']],
    [
      'no request id',
      { headers: { 'content-type': 'application/json' } },
      ['the header x-request-id is missing'],
    ],
    [
      'a wrong header',
      { headers: { ...json, 'x-should-retry': 'no' } },
      [expect.stringMatching(/^the header x-should-retry/)],
    ],
    [
      'another media type',
      { headers: { ...json, 'content-type': 'text/plain' } },
      ['the media type text/plain is not described'],
    ],
    [
      'a missing member',
      { body: { error: { ...failure, code: undefined } } },
      [expect.stringContaining("'code'")],
    ],
    [
      'another type',
      { body: { error: { ...failure, param: 5 } } },
      [expect.stringContaining('param must be')],
    ],
    [
      'another kind',
      { body: { error: { ...failure, type: 'lost' } } },
      [expect.stringContaining('type must be')],
    ],
  ])('%s', (_what, change, faults) => {
    const { status, headers, body } = { ...described404, ...change };
    const endpoint = endpoints.find(({ id }) => id === 'getResponse') as Endpoint;
    const answer = { status, headers: new Headers(headers), text: JSON.stringify(body) };
    expect(described.faultsOf(endpoint, answer)).toEqual(faults);
  });
});

describe('a stream', () => {
  const eventCheck = (endpoint: Endpoint) =>
    described.checkOf(
      ...described.placeOf(endpoint),
      ...['responses', '200', 'content', 'text/event-stream', 'schema'],
    );

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
      const check = described.checkOf('components', 'schemas', name);
      const event = events.find((it) => it.type === type);
      expect([check(event), check.errors]).toEqual([true, null]);
    }
  });

  test('on a socket is described, and so are the errors of rejected messages', async () => {
    const check = described.checkOf(
      ...described.placeOf(endpointOf('connectResponses')),
      ...['x-websocket', 'event'],
    );
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
  await expectDescribed(endpoint, await call(endpoint, {}, { as: place.daemon.login }), 200);
});
