import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KeyDefaultsChange } from '../../src/shared/contract/key-defaults.ts';
import { openSocket } from '../support/socket-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;
/** Stores nothing by default. */
let forgetful: RunningDaemon;

beforeAll(async () => {
  [daemon, forgetful] = await Promise.all([
    startDaemon(),
    startDaemon({ config: 'storage: {store_responses: false}\n' }),
  ]);
});

afterAll(async () => {
  await Promise.all([daemon.stop(), forgetful.stop()]);
});

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

async function issue(body: object, by = daemon.login, from = daemon) {
  const answer = await from.fetch('/v1/workspaces/me/keys', { json: body, headers: bearer(by) });
  expect(answer.status).toBe(200);
  const { key, secret } = (await answer.json()) as { key: { id: string; defaults: object }; secret: string };
  return { id: key.id, defaults: key.defaults, secret };
}

async function set(id: string, body: KeyDefaultsChange) {
  return await daemon.fetch(`/v1/workspaces/me/keys/${id}/defaults`, {
    method: 'PUT',
    body: JSON.stringify(body),
    headers: { ...bearer(daemon.login), 'content-type': 'application/json' },
  });
}

async function ask(secret: string, body: object, { path = '/v1/responses', to = daemon } = {}) {
  const answer = await to.fetch(path, { json: { model: 'sim/echo', ...body }, headers: bearer(secret) });
  const { id, store } = (await answer.json()) as { id: string; store: boolean };
  const kept = await to.fetch(`/v1/responses/${id}`, { headers: bearer(secret) });
  return { cache: answer.headers.get('x-service-cache'), store, isKept: kept.status === 200 };
}

describe('a key that uses the cache by default', () => {
  test('uses it in both formats, unless a call opts out', async () => {
    const { secret, defaults } = await issue({ defaults: { cache: 'read-write' } });
    expect(defaults).toEqual({ cache: 'read-write', store: null, events: null, capture: null });
    const input = 'What is a mutex?';
    expect((await ask(secret, { input })).cache).toBe('miss');
    expect((await ask(secret, { input })).cache).toBe('hit');
    expect((await ask(secret, { input, service: { cache: 'off' } })).cache).toBeNull();
    const chat = { messages: [{ role: 'user', content: input }] };
    const path = '/v1/chat/completions';
    expect((await ask(secret, chat, { path })).cache).toBe('miss');
    expect((await ask(secret, chat, { path })).cache).toBe('hit');
    // Others of the workspace are not asked whether they want to.
    expect((await ask(daemon.key, { input, service: null })).cache).toBeNull();
    expect((await ask(daemon.key, { ...chat, service: null }, { path })).cache).toBeNull();
  });

  test('follows its owner’s change from the next call on', async () => {
    const { id, secret } = await issue({});
    const input = 'What is a semaphore?';
    expect((await ask(secret, { input })).cache).toBeNull();
    expect(await (await set(id, { cache: 'read-write' })).json()).toEqual({
      cache: 'read-write',
      store: null,
      events: null,
      capture: null,
    });
    expect((await ask(secret, { input })).cache).toBe('miss');
    expect((await ask(secret, { input })).cache).toBe('hit');
    await set(id, { store: false });
    expect(await (await set(id, { cache: null })).json()).toEqual({
      cache: null,
      store: false,
      events: null,
      capture: null,
    });
    expect((await ask(secret, { input })).cache).toBeNull();
  });

  test('passes the default on to the keys that it issues', async () => {
    const parent = await issue({
      scopes: ['keys', 'responses'],
      defaults: { cache: 'read-only', store: false },
    });
    const heir = await issue({ scopes: ['responses'], defaults: { store: true } }, parent.secret);
    expect(heir.defaults).toEqual({ cache: 'read-only', store: true, events: null, capture: null });
  });

  test('rejects an unknown mode, and cannot change itself', async () => {
    const { id, secret } = await issue({});
    const wrong = await set(id, { cache: 'always' } as never);
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { error: { param: 'cache' } }]);
    const itself = await daemon.fetch(`/v1/workspaces/me/keys/${id}/defaults`, {
      method: 'PUT',
      body: '{"cache":"off"}',
      headers: { ...bearer(secret), 'content-type': 'application/json' },
    });
    expect(itself.status).toBe(401);
  });
});

describe('a response without `store`', () => {
  test('is stored according to its key', async () => {
    const { secret } = await issue({ defaults: { store: false } });
    expect(await ask(secret, { input: 'Hello.' })).toMatchObject({ store: false, isKept: false });
    expect(await ask(secret, { input: 'Hello.', store: true })).toMatchObject({ store: true, isKept: true });
    expect(await ask(daemon.key, { input: 'Hello.' })).toMatchObject({ store: true, isKept: true });
  });

  test('is stored according to its key on a socket, which continues it either way', async () => {
    const { secret } = await issue({ defaults: { store: false } });
    const client = await openSocket(`${daemon.url}/v1/responses`, { key: secret });
    const create = (body: object) => ({ type: 'response.create', model: 'sim/echo', ...body });
    const { response } = (await client.ask(create({ input: 'Hello.' }))).at(-1);
    expect(response.store).toBe(false);
    const next = (await client.ask(create({ input: 'Again.', previous_response_id: response.id }))).at(-1);
    expect(next.type).toBe('response.completed');
  });

  test('is stored according to the host when the key has no default', async () => {
    expect(await ask(forgetful.key, { input: 'Hello.' }, { to: forgetful })).toMatchObject({
      store: false,
      isKept: false,
    });
    const { secret } = await issue({ defaults: { store: true } }, forgetful.login, forgetful);
    expect(await ask(secret, { input: 'Hello.' }, { to: forgetful })).toMatchObject({
      store: true,
      isKept: true,
    });
  });

  test('is always stored when it runs in the background', async () => {
    const { secret } = await issue({ defaults: { store: false } });
    expect(await ask(secret, { input: 'Hello.', background: true })).toMatchObject({
      store: true,
      isKept: true,
    });
  });
});

describe('a key without service events', () => {
  const eventsOf = async (secret: string, service: object | null) => {
    const json = { model: 'sim/echo', input: 'Hello.', stream: true, service };
    const answer = await daemon.fetch('/v1/responses', { json, headers: bearer(secret) });
    return (await answer.text()).match(/(?<=^event: )service:\w+/gm) ?? [];
  };

  test('streams none, unless a call asks for them', async () => {
    const { id, secret } = await issue({ defaults: { events: false } });
    expect(await eventsOf(secret, null)).toEqual([]);
    expect(await eventsOf(secret, { events: true })).toEqual(['service:route', 'service:cost']);
    await set(id, { events: null });
    expect(await eventsOf(secret, {})).toEqual(['service:route', 'service:cost']);
  });

  test('streams none on a socket either', async () => {
    const { secret } = await issue({ defaults: { events: false } });
    const client = await openSocket(`${daemon.url}/v1/responses`, { key: secret });
    const events = await client.ask({ type: 'response.create', model: 'sim/echo', input: 'Hello.' });
    expect(events.filter(({ type }) => type.startsWith('service:'))).toEqual([]);
    expect(events.at(-1).type).toBe('response.completed');
  });
});
