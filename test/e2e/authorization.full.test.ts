import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { abilityNames, type Endpoint, scopeNames } from '../../src/shared/contract/endpoint.ts';
import type { ErrorReply, MessagesError } from '../../src/shared/contract/error-reply.ts';
import { answerableCodes } from '../../src/shared/contract/openapi.ts';
import { type ErrorCode, failures } from '../../src/shared/errors.ts';
import { makeSecret } from '../../src/shared/secrets.ts';
import { signUpAgent } from '../support/agents.ts';
import { forbidden, notFound, ofKeyOwner, siteForbidden, unauthenticated } from '../support/callers.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { endpoints } from '../support/endpoints.ts';
import {
  callersOf,
  type ExampleIds,
  exampleOf,
  placeholderIds,
  requestOf,
  sampledIds,
} from '../support/example-calls.ts';
import { httpCall } from '../support/http-call.ts';
import { newToken } from '../support/site.ts';
import { addMember, addPerson, createLogin, createUserExamples } from '../support/users.ts';

let place: DaemonWithStranger;
/** In the owner's workspace. */
let others: Record<'admin' | 'member', string>;
let agent: string;
let revokedKey: string;
const secrets = new Map<string, string>();

beforeAll(async () => {
  place = await startWithStranger();
  const [admin, member] = [await addPerson(place.daemon, 'ann'), await addPerson(place.daemon, 'max')];
  await addMember(place.daemon, place.workspace, admin, 'admin');
  await addMember(place.daemon, place.workspace, member, 'member');
  others = { admin: admin.login, member: member.login };
  agent = (await signUpAgent(place.daemon)).secret;
  const revoked = await place.issue(scopeNames);
  revokedKey = revoked.secret;
  await place.daemon.fetch(`/v1/workspaces/me/keys/${revoked.id}`, {
    method: 'DELETE',
    headers: bearer(place.daemon.login),
  });
});

afterAll(async () => {
  await place.daemon.stop();
});

test('every endpoint has a row, and every row an endpoint', () => {
  expect(sampledIds.toSorted()).toEqual(endpoints.map(({ id }) => id).toSorted());
});

/** A key of the workspace with these scopes; the same one each time. */
async function keyWith(scopes: readonly string[]): Promise<string> {
  const name = scopes.join(' ');
  const secret = secrets.get(name) ?? (await place.issue(scopes)).secret;
  secrets.set(name, secret);
  return secret;
}

const tokens = new Map<string, string>();

/** An access token with these abilities; the same one each time, until a call may have revoked it. */
async function tokenFor({ id }: Endpoint, abilities: readonly string[]): Promise<string> {
  if (/^revoke.*Token/.test(id)) tokens.clear();
  const name = abilities.join(' ');
  const secret = tokens.get(name) ?? (await newToken(place.daemon, place.daemon.login, abilities)).secret;
  tokens.set(name, secret);
  return secret;
}

interface Answer {
  /** Status, and of failures type and code. */
  outcome: string;
  error: ErrorReply['error'] | undefined;
}

async function call(
  endpoint: Endpoint,
  headers: Record<string, string>,
  { ids = placeholderIds, path: given, method }: { ids?: ExampleIds; path?: string; method?: string } = {},
): Promise<Answer> {
  const { body: sent, ...request } = requestOf(endpoint, exampleOf(endpoint, ids));
  const answer = await httpCall(place.daemon.url + (given ?? request.path), {
    method: method ?? request.method,
    headers: { ...request.headers, ...headers },
    body: method === undefined ? sent : undefined,
    endless: endpoint.stream?.always === true,
  });
  const requestId = answer.headers['x-request-id'];
  expect(requestId).toMatch(/^req_\w+$/);
  if (answer.status === 200 || method === 'HEAD') return { outcome: String(answer.status), error: undefined };
  if (answer.status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer');
  const body = JSON.parse(answer.text);
  if (endpoint.surface === 'site') {
    const { message, ...rest } = body as { message: string };
    expect(Object.keys(rest)).toEqual(answer.status === 422 ? ['errors'] : []);
    return { outcome: `${answer.status} ${message}`, error: undefined };
  }
  if (endpoint.surface === 'messages')
    return messagesOutcome(answer.status, body as MessagesError, requestId);
  const { error } = body as ErrorReply;
  expect(Object.keys(error)).toEqual(['type', 'code', 'message', 'param', 'request_id']);
  expect(error.request_id).toBe(requestId);
  if (method === undefined) expect(answerableCodes(endpoint)).toContain(error.code as ErrorCode);
  return { outcome: `${answer.status} ${error.type} ${error.code}`, error };
}

/** An error of the Messages API in the terms of the others. */
function messagesOutcome(status: number, body: MessagesError, requestId: unknown): Answer {
  const { error, request_id } = body;
  expect(Object.keys(error)).toEqual(['type', 'message', 'details']);
  expect([body.type, request_id]).toEqual(['error', requestId]);
  const { error_code: code, param = null } = error.details;
  expect(error.type).toBe(messagesTypes[status]);
  const { type } = failures[code as ErrorCode];
  const known = type === 'authentication' ? 'unauthorized' : type;
  const plain = { type: known, code, message: error.message, param, request_id };
  return { outcome: `${status} ${known} ${code}`, error: plain as ErrorReply['error'] };
}

const messagesTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
};

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Whether the example names something of `createExamples` that must exist. */
function namesThings(endpoint: Endpoint): boolean {
  const named = new Set<string | symbol>();
  const noting: ProxyHandler<ExampleIds> = {
    get(ids, name) {
      named.add(name);
      return Reflect.get(ids, name);
    },
  };
  exampleOf(endpoint, new Proxy(placeholderIds, noting));
  return ['response', 'request', 'key'].some((name) => named.has(name));
}

const thingsFor = async (endpoint: Endpoint, key: string) =>
  namesThings(endpoint) ? await place.createExamples(key, endpoint) : await withPeople(endpoint);

/** Creates what an endpoint about users names, for the user of this login. */
const withPeople = async (endpoint: Endpoint, login = place.daemon.login): Promise<ExampleIds> => ({
  ...placeholderIds,
  workspace: place.workspace,
  ...(await createUserExamples(place.daemon, endpoint, login)),
});

const untouched = new Map<string, Promise<ExampleIds>>();

/** What an endpoint names, made once for all callers whom it refuses: they leave it as it is. */
function namedFor(endpoint: Endpoint, expected: string): Promise<ExampleIds> {
  // An allowed call may have removed the member, who is the same each time.
  const isUsedUp = expected === '200' || endpoint.id === 'removeMember';
  if (isUsedUp) return thingsFor(endpoint, place.daemon.key);
  const made = untouched.get(endpoint.id) ?? thingsFor(endpoint, place.daemon.key);
  untouched.set(endpoint.id, made);
  return made;
}

/** The login itself, or another one of the same user where the call ends it. */
const loginFor = async (endpoint: Endpoint, login: string) =>
  endpoint.id === 'signOut' ? (await createLogin(place.daemon, login)).secret : login;

function wrongCredentials(): [what: string, headers: Record<string, string>][] {
  const { daemon } = place;
  const damaged = daemon.key.slice(0, -1) + (daemon.key.endsWith('0') ? '1' : '0');
  return [
    ['a header without a credential', { authorization: 'Bearer' }],
    ['an empty credential', { authorization: 'Bearer  ' }],
    ['another scheme', { authorization: 'Basic Z2F0ZXdheTpnYXRld2F5' }],
    ['a key without a scheme', { authorization: daemon.key }],
    ['a key and more', { authorization: `Bearer ${daemon.key} more` }],
    ['a key with a letter too many', bearer(`${daemon.key}0`)],
    ['words of a database', bearer("'/**/OR/**/1=1--")],
    ['16 KB', bearer('k'.repeat(12_000))],
    ['a key with a typo', bearer(damaged)],
    ['an unknown key', bearer(makeSecret('api', randomBytes))],
    ['an unknown login', bearer(makeSecret('login', randomBytes))],
    ['an unknown token', bearer(makeSecret('token', randomBytes))],
    ['an unknown agent', bearer(makeSecret('agent', randomBytes))],
    ['a revoked key', bearer(revokedKey)],
  ];
}

const named = (chosen: readonly Endpoint[]) => chosen.map((endpoint) => [endpoint.id, endpoint] as const);

describe.each(named(endpoints))('%s', (_id, endpoint) => {
  const row = callersOf(endpoint);
  const { apiKey } = endpoint.access;
  const scopes: readonly string[] = apiKey === undefined || apiKey === 'any' ? [] : [apiKey].flat();

  test('to an agent', async () => {
    const ids = await namedFor(endpoint, row.agent);
    expect((await call(endpoint, bearer(agent), { ids })).outcome).toBe(row.agent);
  });

  test('to no credential', async () => {
    const ids = await namedFor(endpoint, row.anonymous);
    expect((await call(endpoint, {}, { ids })).outcome).toBe(row.anonymous);
  });

  test.each<[string, (key: string) => { headers: Record<string, string>; query?: string }]>([
    ['a cookie', (key) => ({ headers: { cookie: `authorization=Bearer ${key}; key=${key}` } })],
    ['another header', (key) => ({ headers: { 'x-key': key, 'api-key': key, 'proxy-authorization': key } })],
    ['the address', (key) => ({ headers: {}, query: `key=${key}&access_token=${key}&api_key=${key}` })],
  ])('to a key in %s, as to no credential', async (_where, credential) => {
    const { headers, query } = credential(place.daemon.key);
    const ids = await namedFor(endpoint, row.anonymous);
    const { path } = requestOf(endpoint, exampleOf(endpoint, ids));
    const asked = query === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
    // Public endpoints of the site API refuse unknown parameters.
    const isRefused =
      query !== undefined &&
      endpoint.query !== undefined &&
      endpoint.surface === 'site' &&
      row.anonymous === '200';
    const expected = isRefused ? '422 The given data was invalid.' : row.anonymous;
    expect((await call(endpoint, headers, { ids, path: asked })).outcome).toBe(expected);
  });

  test('to a caller who claims scopes and roles in headers, as to no credential', async () => {
    const claims = {
      'x-scopes': scopeNames.join(' '),
      'x-role': 'owner',
      'x-user-id': 'usr_1',
      'x-workspace': 'me',
      'x-workspace-id': place.workspace,
    };
    const ids = await namedFor(endpoint, row.anonymous);
    expect((await call(endpoint, claims, { ids })).outcome).toBe(row.anonymous);
  });

  test('to every wrong credential, in the same words', async () => {
    const seen = new Map<string, string>();
    for (const [what, headers] of wrongCredentials()) {
      const { outcome, error } = await call(endpoint, headers);
      expect([what, outcome]).toEqual([what, row.wrong]);
      seen.set(JSON.stringify({ ...error, request_id: '' }), what);
    }
    expect([...seen.values()]).toHaveLength(1);
  });

  test('to an expired key', async () => {
    const { outcome, error } = await call(endpoint, bearer(place.expiredKey));
    if (endpoint.surface === 'site') expect(outcome).toBe(siteForbidden);
    else expect([outcome, error?.param]).toEqual(['403 limit_reached limit_reached', 'limits.expires_at']);
  });

  test('to a key without the scope', async () => {
    const lacking = await keyWith(
      scopes.length > 0 ? scopeNames.filter((name) => !scopes.includes(name)) : ['plugins'],
    );
    expect((await call(endpoint, bearer(lacking))).outcome).toBe(row.keyWithoutScope);
  });

  test.each(scopes.length > 0 ? scopes : ['models:read'])('to a key with the scope %s', async (scope) => {
    // What it asks for it may have to make first, with `responses`.
    const key = await keyWith([...new Set([scope, 'responses'])]);
    const ids = await thingsFor(endpoint, key);
    expect((await call(endpoint, bearer(key), { ids })).outcome).toBe(row.keyWithScope);
  });

  test.each(['key', 'login'] as const)('to a stranger’s %s', async (kind) => {
    const expected = kind === 'key' ? row.strangerKey : row.strangerLogin;
    const ids = await namedFor(endpoint, expected);
    const secret = kind === 'key' ? place.stranger.key : await loginFor(endpoint, place.stranger.login);
    expect((await call(endpoint, bearer(secret), { ids })).outcome).toBe(expected);
  });

  test.each(['token', 'tokenWithout'] as const)('to a %s', async (kind) => {
    const { token: ability } = endpoint.access;
    const lacking = abilityNames.filter((name) => name !== '*' && name !== ability);
    const token = await tokenFor(endpoint, kind === 'token' ? ['*'] : lacking);
    const expected = row[kind] ?? unauthenticated;
    const ids = await namedFor(endpoint, expected);
    expect((await call(endpoint, bearer(token), { ids })).outcome).toBe(expected);
  });

  test.each(['admin', 'member'] as const)('to the login of a workspace’s %s', async (role) => {
    const login = await loginFor(endpoint, others[role]);
    const expected = row[role] ?? row.login;
    const ids =
      expected === '200' && !namesThings(endpoint)
        ? await withPeople(endpoint, login)
        : await namedFor(endpoint, expected);
    const headers = { ...bearer(login), 'x-workspace-id': place.workspace };
    expect((await call(endpoint, headers, { ids })).outcome).toBe(expected);
  });
});

const hidesThings = (endpoint: Endpoint) => {
  const callers = callersOf(endpoint);
  return callers.strangerKey === notFound || callers === ofKeyOwner;
};

let ownersThings: Promise<ExampleIds> | undefined;

test.each(named(endpoints.filter(hidesThings)))(
  '%s answers a stranger as if this workspace’s ids did not exist',
  async (_id, endpoint) => {
    const { key, login } = place.stranger;
    const secret = endpoint.access.loginOnly ? login : key;
    ownersThings ??= place.createExamples(place.daemon.key);
    const ids = await ownersThings;
    const unknown = Object.fromEntries(
      Object.entries(ids).map(([name, text]) => [name, `${text.slice(0, -4)}zzzz`]),
    ) as unknown as ExampleIds;
    const reported = async (asked: ExampleIds) => {
      const { outcome, error } = await call(endpoint, bearer(secret), { ids: asked });
      const words = Object.values(asked).reduce(
        (text, name) => text.replaceAll(name, 'ID'),
        error?.message ?? '',
      );
      return { outcome, words, param: error?.param };
    };
    expect(await reported(ids)).toEqual(await reported({ ...unknown, workspace: ids.workspace }));
  },
);

test.each(named(endpoints.filter(({ method }) => method === 'GET')))(
  '%s answers HEAD as it answers GET',
  async (id, endpoint) => {
    expect((await call(endpoint, {}, { method: 'HEAD' })).outcome).toBe(
      callersOf({ id }).anonymous.slice(0, 3),
    );
  },
);

/** What the caller may not do is refused before anybody looks at what was sent. */
const refusedLogins = endpoints.flatMap((endpoint) => {
  const row = callersOf(endpoint);
  const callers = { strangerLogin: row.strangerLogin, member: row.member ?? row.login };
  // A thing that is not there is another matter: what is asked of it may be wrong first.
  const byRole = endpoint.access.login !== 'any' && endpoint.surface === 'v1';
  const sent = endpoint.body ? 'body' : endpoint.query ? 'query' : undefined;
  return Object.entries(callers).flatMap(([who, reported]) =>
    sent !== undefined && (reported === forbidden || (byRole && reported === notFound))
      ? [[endpoint.id, who as keyof typeof callers, sent, endpoint, reported] as const]
      : [],
  );
});

test.each(refusedLogins)(
  '%s refuses %s before it reads the %s',
  async (_id, who, sent, endpoint, reported) => {
    const ids = await namedFor(endpoint, reported);
    const { path, method, headers } = requestOf(endpoint, exampleOf(endpoint, ids));
    const login = who === 'member' ? others.member : place.stranger.login;
    // Where no path names the workspace, a member acts in it by this header.
    const acting = who === 'member' ? { 'x-workspace-id': place.workspace } : {};
    const ask = async (url: string, body?: string) => {
      const all = { ...headers, ...acting, 'content-type': 'application/json', ...bearer(login) };
      const answer = await httpCall(place.daemon.url + url, { method: method ?? 'GET', headers: all, body });
      const { error } = JSON.parse(answer.text) as ErrorReply;
      return `${answer.status} ${error.type} ${error.code}`;
    };
    if (sent === 'query') {
      expect(await ask(`${path.split('?')[0]}?limit=nonsense&nonsense=1`)).toBe(reported);
      return;
    }
    expect(await ask(path, '{"nonsense":1}')).toBe(reported);
    expect(await ask(path, '{')).toBe(reported);
  },
);

/** Which addresses an endpoint is reached by. */
const patternOf = ({ path }: Endpoint) =>
  new RegExp(`^${path.replace(/\{\w+\.\.\.\}/g, '.+').replace(/\{\w+\}/g, '[^/]+')}(\\?|$)`);

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

test.each(named(endpoints))('%s returns 405 for other methods, to any caller', async (_id, endpoint) => {
  const { path: url } = requestOf(endpoint, exampleOf(endpoint, placeholderIds));
  const matching = endpoints.filter((it) => patternOf(it).test(url));
  // A path with fewer parameters goes before those that would take a part of it for an id.
  const parameters = ({ path }: Endpoint) => path.split('{').length;
  const fewest = Math.min(...matching.map(parameters));
  const served = matching.filter((it) => parameters(it) === fewest).map((it) => it.method as string);
  if (served.includes('GET')) served.push('HEAD');
  const callers = [{}, bearer(place.daemon.key), bearer(place.daemon.login)];
  for (const [index, method] of methods.filter((it) => !served.includes(it)).entries()) {
    const answer = await httpCall(place.daemon.url + url, {
      method,
      headers: callers[index % callers.length] ?? {},
    });
    const body = answer.text;
    expect([method, answer.status]).toEqual([method, method === 'OPTIONS' ? 204 : 405]);
    expect((answer.headers.allow ?? '').split(', ').toSorted()).toEqual(
      [...new Set(served), 'OPTIONS'].toSorted(),
    );
    if (method === 'HEAD' || method === 'OPTIONS') expect(body).toBe('');
    else if (endpoint.surface === 'site') expect(Object.keys(JSON.parse(body))).toEqual(['message']);
    else {
      const { code, details } = JSON.parse(body).error;
      expect(code ?? details.error_code).toBe('method_not_allowed');
    }
  }
});

// The login that stops the daemon comes last of all.
test.each(named(endpoints.filter(({ id }) => id !== 'stopDaemon')))(
  '%s, to a login',
  async (id, endpoint) => {
    const ids = await thingsFor(endpoint, place.daemon.key);
    const login = await loginFor(endpoint, place.daemon.login);
    expect((await call(endpoint, bearer(login), { ids })).outcome).toBe(callersOf({ id }).login);
  },
);

test('a stranger sees nothing of this workspace in sums and events', async () => {
  const { request, key } = await place.createExamples(place.daemon.key);
  const asStranger = async (path: string, secret: string) => {
    const answer = await place.daemon.fetch(path, { headers: bearer(secret) });
    return { status: answer.status, text: answer.status === 200 ? await answer.text() : '' };
  };
  for (const secret of [place.stranger.key, place.stranger.login]) {
    const sums = await asStranger('/v1/usage?group_by=key', secret);
    expect(JSON.parse(sums.text).total.requests).toBeGreaterThan(0);
    expect(sums.text).not.toContain(key);
    expect(JSON.stringify(await asStranger('/v1/workspaces/me/keys', secret))).not.toContain(key);
  }
  const { request: own } = await place.createExamples(place.stranger.key);
  const answer = await place.daemon.fetch('/v1/events?after=0', { headers: bearer(place.stranger.key) });
  let seen = '';
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes(own)) break;
  }
  expect(seen).toContain(own);
  expect(seen).not.toContain(request);
});

test('the owner’s login may stop the daemon', async () => {
  const { daemon } = place;
  const answer = await daemon.fetch('/v1/admin/stop', { method: 'POST', headers: bearer(daemon.login) });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ stopping: true, pid: process.pid });
});
