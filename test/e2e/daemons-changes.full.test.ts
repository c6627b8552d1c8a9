import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { presenceLocks } from '../../src/daemon/storage/postgres/engine/locks.ts';
import { answers, drips, stallsAfter, words } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall } from '../support/model-client.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../support/postgres.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { streamWhenAvailable, whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();

let chaos: ChaosUpstream;
let one: RunningDaemon;
let other: RunningDaemon;
let url: string;

interface Answered<T> {
  status: number;
  body: T;
}

interface Asked {
  json?: unknown;
  method?: string;
  headers?: Record<string, string>;
}

/** A request with the login of the owner. */
const ask = <T = Record<string, unknown>>(daemon: RunningDaemon, path: string, asked: Asked = {}) =>
  whenAvailable(() => askNow<T>(daemon, path, asked));

async function askNow<T>(
  daemon: RunningDaemon,
  path: string,
  { json, method, headers }: Asked,
): Promise<Answered<T>> {
  const answer = await fetch(daemon.url + path, {
    method: method ?? (json === undefined ? 'GET' : 'POST'),
    ...(json !== undefined && { body: JSON.stringify(json) }),
    headers: {
      authorization: `Bearer ${daemon.login}`,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T };
}

async function issueKey(name: string): Promise<{ id: string; secret: string }> {
  const scopes = ['responses', 'models:read', 'usage:read', 'traces:read', 'threads'];
  const { body } = await ask<{ key: { id: string }; secret: string }>(one, '/v1/workspaces/me/keys', {
    json: { name, scopes },
  });
  return { id: body.key.id, secret: body.secret };
}

const callNow = (daemon: RunningDaemon, key: string) =>
  completeCall({ url: daemon.url, key }, { wire: 'chat', model: 'chat/any', stream: false });
const callWith = (daemon: RunningDaemon, key: string) => whenAvailable(() => callNow(daemon, key));

/** Calls until a call is refused, and returns its answer. */
const untilRefused = (daemon: RunningDaemon, key: string, call = callWith) =>
  eventually('a call is refused', async () => {
    const answer = await call(daemon, key);
    return answer.status !== 200 && answer;
  });

interface Followed {
  text: string;
  ended: Promise<void>;
  leave(): void;
}

/** Reads a stream until it ends or is left. */
async function follow(daemon: RunningDaemon, path: string): Promise<Followed> {
  const abort = new AbortController();
  const headers = { authorization: `Bearer ${daemon.login}` };
  const answer = await whenAvailable(() => fetch(daemon.url + path, { headers, signal: abort.signal }));
  expect(answer.status).toBe(200);
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of answer.body ?? []) followed.text += decoder.decode(bytes, { stream: true });
  };
  const followed: Followed = { text: '', ended: Promise.resolve(), leave: () => abort.abort() };
  followed.ended = read().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return followed;
}

describe.skipIf(missing)(`two daemons on one database${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let homes: string[] = [];

  beforeAll(async () => {
    chaos = await startChaosUpstream(answers());
    chaos.on('live', stallsAfter(8));
    url = await newPostgresDatabase();
    homes = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'gateway-daemons-'))));
    const [first = '', second = ''] = homes;
    const options = { config: chaosConfig(chaos.baseUrl), env: { GATEWAY_STORAGE_URL: url } };
    one = await startDaemon({ ...options, home: first });
    // Each has a folder of its own; what must be the same is copied.
    for (const file of ['data-key', 'login-key', 'default-key'])
      await copyFile(join(first, file), join(second, file));
    other = await startDaemon({ ...options, home: second });
  });

  afterAll(async () => {
    await other?.stop();
    await one?.stop();
    await chaos?.close();
    for (const home of homes) await rm(home, { recursive: true, force: true });
  });

  test('a key that one revokes is refused by the other, and what runs with it ends', async () => {
    const { id, secret } = await issueKey('stolen');
    expect((await callWith(other, secret)).status).toBe(200);
    const running = await streamWhenAvailable(() =>
      callModel({ url: other.url, key: secret }, { wire: 'chat', model: 'chat/live', stream: true }),
    );
    await running.receives('quick');
    expect((await ask(one, `/v1/workspaces/me/keys/${id}`, { method: 'DELETE' })).status).toBe(200);
    const refused = await untilRefused(other, secret);
    expect(refused.status).toBe(401);
    await running.ended;
    expect(running.text).toContain('unauthenticated');
  });

  test('a key that one pauses and rotates is refused by the other at once, and what runs with it ends', async () => {
    const { id, secret } = await issueKey('rotated');
    const streamAtOther = async (key: string) => {
      const running = await streamWhenAvailable(() =>
        callModel({ url: other.url, key }, { wire: 'chat', model: 'chat/live', stream: true }),
      );
      await running.receives('quick');
      return running;
    };
    const paused = await streamAtOther(secret);
    expect((await ask(one, `/v1/workspaces/me/keys/${id}/pause`, { json: {} })).status).toBe(200);
    expect((await untilRefused(other, secret)).text).toContain('key_paused');
    await paused.ended;
    expect(paused.text).toContain('key_paused');
    expect((await ask(one, `/v1/workspaces/me/keys/${id}/resume`, { json: {} })).status).toBe(200);
    await eventually('it is accepted', async () => (await callWith(other, secret)).status === 200);

    const running = await streamAtOther(secret);
    const rotations = await Promise.all(
      [one, other, one, other].map((daemon) =>
        ask<{ secret: string }>(daemon, `/v1/workspaces/me/keys/${id}/rotate`, { json: {} }),
      ),
    );
    // Each that succeeds ends the secret of the one before.
    const made = rotations.filter(({ status }) => status === 200).map(({ body }) => body.secret);
    expect(made.length).toBeGreaterThan(0);
    expect(rotations.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect((await untilRefused(other, secret)).status).toBe(401);
    await running.ended;
    expect(running.text).toContain('unauthenticated');
    const standing = await Promise.all(made.map(async (key) => (await callWith(other, key)).status));
    expect(standing.toSorted()).toEqual([200, ...Array.from({ length: made.length - 1 }, () => 401)]);
  });

  test('a link that is used at both at the same time leaves no login', async () => {
    const sessions = async () =>
      (await ask<{ data: { id: string }[] }>(one, '/v1/sessions?limit=100', {})).body.data.map(
        ({ id }) => id,
      );
    const before = await sessions();
    const { code } = (await ask<{ code: string }>(one, '/v1/sessions/links', { json: {} })).body;
    const use = (daemon: RunningDaemon) =>
      fetch(`${daemon.url}/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    const uses = await Promise.all(Array.from({ length: 40 }, (_, at) => use(at % 2 === 0 ? one : other)));
    const statuses = uses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(39);
    expect(await sessions()).toEqual(before);
  });

  test('a daemon that does not learn what was revoked answers 503, not from memory', async () => {
    const server = await sharedPostgres();
    const name = new URL(url).pathname.slice(1);
    const { id, secret } = await issueKey('cut off');
    expect((await callWith(other, secret)).status).toBe(200);
    // Either daemon may have opened its connection again. The other one has the higher number.
    const ofOther = await eventually('both read what others have changed', async () => {
      const sessions = await server.query(
        `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${presenceLocks}
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
         ORDER BY objid DESC`,
        name,
      );
      return sessions.length === 2 && Number(sessions[0]?.pid);
    });
    const allowConnections = (isAllowed: boolean) =>
      server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
    await allowConnections(false);
    process.kill(ofOther, 'SIGSTOP');
    try {
      await ask(one, `/v1/workspaces/me/keys/${id}`, { method: 'DELETE' });
      const refused = await untilRefused(other, secret, callNow);
      expect(refused.status).toBe(503);
      expect(refused.headers['retry-after']).toBe('1');
    } finally {
      await allowConnections(true);
      process.kill(ofOther, 'SIGCONT');
    }
    expect((await callWith(other, secret)).status).toBe(401);
    expect((await callWith(other, other.key)).status).toBe(200);
  });

  test('limits that one sets apply at the other', async () => {
    const { id, secret } = await issueKey('limited');
    expect((await callWith(other, secret)).status).toBe(200);
    const set = await ask(one, `/v1/workspaces/me/keys/${id}/limits`, {
      method: 'PUT',
      json: { requests_per_minute: 1 },
    });
    expect(set.status).toBe(200);
    expect((await untilRefused(other, secret)).text).toContain('requests_per_minute');
  });

  test('the events of both are followed at one of them without gap or duplicate', async () => {
    const events = await follow(one, '/v1/events?type=request.completed&after=0');
    const calls = Array.from({ length: 12 }, (_, index) =>
      callWith(index % 2 === 0 ? one : other, index % 2 === 0 ? one.key : other.key),
    );
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    const idle = await callWith(other, other.key);
    const sequences = () => [...events.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const last = String(idle.headers['x-request-id']);
    await eventually('the last call is there', () => events.text.includes(last));
    events.leave();
    const all = await follow(other, '/v1/events?type=request.completed&after=0');
    await eventually('all are there', () => all.text.includes(last));
    all.leave();
    expect(sequences()).toEqual([...all.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
    expect(new Set(sequences()).size).toBe(sequences().length);
    expect(sequences()).toEqual([...sequences()].sort((a, b) => a - b));
  });

  test('rows that one writes are streamed by the other', async () => {
    const shouts = await follow(other, '/api/shouts/stream');
    await eventually('it is open', () => shouts.text.includes('following'));
    expect((await ask(one, '/api/shouts', { json: { body: 'Heard everywhere' } })).status).toBeLessThan(300);
    await eventually('it comes', () => shouts.text.includes('Heard everywhere'));
    shouts.leave();
  });

  test('a background response is followed at the other, to its last event', async () => {
    chaos.on('slow', drips(40, { text: words, usage: { input: 100, output: 50 } }));
    const json = { model: 'chat/slow', input: 'Say something.', background: true };
    const created = await whenAvailable(() =>
      fetch(`${one.url}/v1/responses`, {
        method: 'POST',
        body: JSON.stringify({ ...json, stream: true }),
        headers: { authorization: `Bearer ${one.login}`, 'content-type': 'application/json' },
      }),
    );
    const reader = created.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const id = /"id":"(resp_\w+)"/.exec(first)?.[1] ?? '';
    await reader?.cancel();
    const elsewhere = await follow(other, `/v1/responses/${id}?stream=true`);
    const here = await follow(one, `/v1/responses/${id}?stream=true`);
    await Promise.all([elsewhere.ended, here.ended]);
    expect(elsewhere.text).toContain('response.completed');
    expect(elsewhere.text.replaceAll(/^: .*\n\n/gm, '')).toBe(here.text.replaceAll(/^: .*\n\n/gm, ''));
    expect((await ask<{ status: string }>(other, `/v1/responses/${id}`)).body.status).toBe('completed');
  });

  test('a background response is read and cancelled at the other', async () => {
    const { body } = await ask<{ id: string }>(one, '/v1/responses', {
      json: { model: 'chat/live', input: 'Say something.', background: true },
    });
    const running = await ask<{ status: string }>(other, `/v1/responses/${body.id}`);
    expect(running.body.status).toBe('in_progress');
    const cancelled = await ask<{ status: string }>(other, `/v1/responses/${body.id}/cancel`, { json: {} });
    expect(cancelled.body.status).toBe('cancelled');
    expect((await ask<{ status: string }>(one, `/v1/responses/${body.id}`)).body.status).toBe('cancelled');
  });

  test('a run of a thread is stopped and followed at the other', async () => {
    const { body } = await ask<{ thread: { id: string } }>(one, '/v1/threads', { json: {} });
    const { id } = body.thread;
    const events = await follow(other, `/v1/threads/${id}/events`);
    const run = { model: 'chat/live', input: 'Say something.', background: true, conversation: id };
    await ask(one, '/v1/responses', { json: run });
    const busy = await ask(other, '/v1/responses', { json: run });
    expect(busy.status).toBe(409);
    const shown = () => ask<{ thread: { working: boolean } }>(other, `/v1/threads/${id}`);
    expect((await shown()).body.thread.working).toBe(true);
    const stopped = await ask<{ thread: { working: boolean } }>(other, `/v1/threads/${id}/stop`, {
      method: 'POST',
    });
    expect(stopped.body.thread.working).toBe(false);
    await eventually('its end is followed', () => events.text.includes('run_cancelled'));
    events.leave();
  });

  test('a run of an autopilot is cancelled at the other', async () => {
    const created = await ask<{ data: { id: string } }>(one, '/api/autopilots', {
      json: { displayName: 'Pilot', policy: { model: 'chat/live' } },
    });
    const path = `/api/autopilots/${created.body.data.id}/runs`;
    const run = await ask<{ data: { id: string } }>(one, path, { json: { input: 'Say something.' } });
    const cancelled = await ask<{ data: { status: string } }>(other, `${path}/${run.body.data.id}/cancel`, {
      method: 'POST',
    });
    expect(cancelled.body.data.status).toBe('cancelled');
  });

  test('a duplicate of an idempotent call at the other waits for the first, and gets its answer', async () => {
    chaos.on('once', drips(30, { text: words, usage: { input: 100, output: 50 } }));
    const send = async (daemon: RunningDaemon) => {
      const headers = {
        authorization: `Bearer ${daemon.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'everywhere',
      };
      const body = JSON.stringify({ model: 'chat/once', input: 'Once.' });
      const answer = await whenAvailable(() =>
        fetch(`${daemon.url}/v1/responses`, { method: 'POST', body, headers }),
      );
      return { text: await answer.text(), isReplayed: answer.headers.get('idempotent-replayed') === 'true' };
    };
    const first = send(one);
    await eventually('it is asked', () => chaos.callsOf('once').length === 1);
    const second = await send(other);
    expect(second).toEqual({ text: (await first).text, isReplayed: true });
    expect(chaos.callsOf('once')).toHaveLength(1);
  });
});
