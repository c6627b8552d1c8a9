import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stallsAfter } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, startChaosDaemon } from '../support/chaos-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall, type ModelAnswer } from '../support/model-client.ts';
import { startDaemon } from '../support/start-daemon.ts';

let chaotic: ChaosDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon();
  chaotic.chaos.on('live', stallsAfter(8));
});

afterAll(async () => {
  await chaotic.close();
});

interface Asked {
  json?: unknown;
  method?: string;
  key?: string;
}

async function ask<T = Record<string, unknown>>(path: string, { json, method, key }: Asked = {}) {
  const { daemon } = chaotic;
  const answer = await daemon.fetch(path, {
    ...(json !== undefined && { json }),
    ...(method !== undefined && { method }),
    headers: { authorization: `Bearer ${key ?? daemon.login}` },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T };
}

interface Issued {
  key: { id: string; status: string };
  secret: string;
  previous?: { hint: string; ends_at: string };
}

async function issue(name: string, more: { scopes?: string[]; key?: string } = {}): Promise<Issued> {
  const { key, ...rest } = more;
  const { body } = await ask<Issued>('/v1/workspaces/me/keys', {
    json: { name, ...rest },
    ...(key && { key }),
  });
  return body;
}

const change = (id: string, what: 'rotate' | 'pause' | 'resume', json: unknown = {}, key?: string) =>
  ask<Issued & { error?: { code: string } }>(`/v1/workspaces/me/keys/${id}/${what}`, {
    json,
    ...(key && { key }),
  });
const callWith = (key: string) =>
  completeCall({ url: chaotic.daemon.url, key }, { wire: 'responses', model: 'chat/any', stream: false });

async function streamWith(key: string): Promise<ModelAnswer> {
  const answer = callModel(
    { url: chaotic.daemon.url, key },
    { wire: 'responses', model: 'chat/live', stream: true },
  );
  await answer.receives('quick');
  return answer;
}

/** What a stream of events has at its start. */
async function firstEvents(url: string, login: string): Promise<string> {
  const abort = new AbortController();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${login}` }, signal: abort.signal });
  const reader = answer.body?.getReader();
  const bytes = (await reader?.read())?.value;
  abort.abort();
  return new TextDecoder().decode(bytes);
}

const minutes = (count: number) => count * 60_000;

describe('a key that is rotated with a grace period', () => {
  test('keeps its id and history; its old secret works, says until when, and ends with its streams', async () => {
    const { key, secret: old } = await issue('app');
    const running = await streamWith(old);
    const rotated = await change(key.id, 'rotate', { grace_seconds: 3600 });
    expect(rotated.status).toBe(200);
    expect(rotated.headers.get('cache-control')).toContain('no-store');
    const { secret, previous } = rotated.body;
    const runningToo = await streamWith(secret);

    const withOld = await callWith(old);
    expect(withOld.status).toBe(200);
    expect(withOld.headers['x-service-key-expires']).toBe(previous?.ends_at);
    const withNew = await callWith(secret);
    expect(withNew.status).toBe(200);
    expect(withNew.headers).not.toHaveProperty('x-service-key-expires');
    const own = await Promise.all([old, secret].map((one) => ask<{ id: string }>('/v1/key', { key: one })));
    expect(own.map(({ body }) => body.id)).toEqual([key.id, key.id]);

    const shown = await ask<{ previous_secrets: { ends_at: string; last_used_at: string | null }[] }>(
      `/v1/workspaces/me/keys/${key.id}`,
    );
    expect(shown.body.previous_secrets).toMatchObject([
      { ends_at: previous?.ends_at, last_used_at: expect.any(String) },
    ]);

    chaotic.daemon.advance(30_000);
    const used = await eventually('the use of the old secret is an event', async () => {
      const { daemon } = chaotic;
      const url = `${daemon.url}/v1/events?type=key.*&after=0`;
      const text = await firstEvents(url, daemon.login);
      return text.includes('key.previous_secret_used') && text;
    });
    expect(used).toContain('"type":"key.rotated"');
    expect(used).toContain(previous?.hint);
    for (const one of [old, secret]) expect(used).not.toContain(one);

    chaotic.daemon.advance(minutes(61));
    const refused = await callWith(old);
    expect(refused.status).toBe(401);
    await running.ended;
    expect(running.text).toContain('unauthenticated');
    expect((await callWith(secret)).status).toBe(200);
    expect(runningToo.text).not.toContain('event: error');
    runningToo.disconnect();
    const later = await ask<{ previous_secrets: unknown[]; rotated_at: string }>(
      `/v1/workspaces/me/keys/${key.id}`,
    );
    expect(later.body).toMatchObject({ previous_secrets: [], rotated_at: expect.any(String) });
  });

  test('can be rotated again, and without a period ends all earlier secrets at once', async () => {
    const { key, secret: first } = await issue('twice');
    const second = (await change(key.id, 'rotate', { grace_seconds: 7200 })).body.secret;
    const third = (await change(key.id, 'rotate', { grace_seconds: 60 })).body.secret;
    for (const secret of [first, second, third]) expect((await callWith(secret)).status).toBe(200);
    const streams = await Promise.all([first, second, third].map(streamWith));
    const fourth = (await change(key.id, 'rotate')).body.secret;
    const statuses = await Promise.all(
      [first, second, third, fourth].map(async (s) => (await callWith(s)).status),
    );
    expect(statuses).toEqual([401, 401, 401, 200]);
    for (const stream of streams) {
      await stream.ended;
      expect(stream.text).toContain('unauthenticated');
    }
  });

  test('of rotations at the same time each that succeeds returns a secret that works until the next', async () => {
    const { key, secret: first } = await issue('raced');
    const rotations = await Promise.all(
      Array.from({ length: 8 }, () => change(key.id, 'rotate', { grace_seconds: 600 })),
    );
    const made = rotations.filter(({ status }) => status === 200).map(({ body }) => body.secret);
    expect(made.length).toBeGreaterThan(0);
    for (const { status, body } of rotations)
      if (status !== 200) expect([status, body.error?.code]).toEqual([409, 'conflict']);
    for (const secret of [first, ...made].slice(-8)) expect((await callWith(secret)).status).toBe(200);
  });

  test('is rotated by itself and by keys that issued it, but not by others or with a replaced secret', async () => {
    const scopes = ['responses', 'keys'];
    const parent = await issue('parent', { scopes });
    const child = await issue('child', { key: parent.secret });
    const other = await issue('other', { scopes });
    const byParent = await change(child.key.id, 'rotate', {}, parent.secret);
    expect(byParent.status).toBe(200);
    expect((await change(child.key.id, 'rotate', {}, other.secret)).status).toBe(404);
    expect((await change(parent.key.id, 'rotate', {}, byParent.body.secret)).status).toBe(403);
    const itself = await change(parent.key.id, 'rotate', { grace_seconds: 60 }, parent.secret);
    expect(itself.status).toBe(200);
    const again = await change(parent.key.id, 'rotate', { grace_seconds: 60 }, parent.secret);
    expect([again.status, again.body.error?.code]).toEqual([403, 'permission']);
  });
});

test('a key that is paused is refused with all that it issued, and streams end until it is resumed', async () => {
  const parent = await issue('paused', { scopes: ['responses', 'keys'] });
  const child = await issue('its child', { key: parent.secret });
  const streams = await Promise.all([parent, child].map(({ secret }) => streamWith(secret)));
  const paused = await change(parent.key.id, 'pause');
  expect(paused.body).toMatchObject({ status: 'paused', paused_at: expect.any(String) });
  for (const stream of streams) {
    await stream.ended;
    expect(stream.text).toContain('"key_paused"');
  }
  for (const { secret } of [parent, child]) {
    const { status, text } = await callWith(secret);
    expect([status, JSON.parse(text)]).toMatchObject([
      403,
      { error: { type: 'permission', code: 'key_paused' } },
    ]);
  }
  // A secret that it gets meanwhile is refused, too.
  const rotated = await change(parent.key.id, 'rotate', { grace_seconds: 600 });
  expect((await callWith(rotated.body.secret)).status).toBe(403);
  expect((await change(parent.key.id, 'resume', {}, child.secret)).status).toBe(403);
  expect((await change(parent.key.id, 'resume')).body).toMatchObject({ status: 'active', paused_at: null });
  for (const [what, secret] of Object.entries({
    old: parent.secret,
    rotated: rotated.body.secret,
    child: child.secret,
  }))
    expect([what, (await callWith(secret)).status]).toEqual([what, 200]);
});

test('what is rotated and paused stays so over a restart, and no secret is stored', async () => {
  const first = await startDaemon();
  const asOwner = async (daemon: typeof first, path: string, json?: unknown) => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    const answer = await daemon.fetch(path, { ...(json !== undefined && { json }), headers });
    return (await answer.json()) as Issued & { data: { id: string; name: string }[] };
  };
  const issued = await asOwner(first, '/v1/workspaces/me/keys', { name: 'lasting' });
  const path = `/v1/workspaces/me/keys/${issued.key.id}`;
  const rotated = await asOwner(first, `${path}/rotate`, { grace_seconds: 3600 });
  const stopped = await asOwner(first, '/v1/workspaces/me/keys', { name: 'stopped' });
  await asOwner(first, `/v1/workspaces/me/keys/${stopped.key.id}/pause`, {});
  // The key of the first start, whose file keeps the old secret.
  const [byDefault] = (await asOwner(first, '/v1/workspaces/me/keys')).data.filter(
    ({ name }) => name === 'default',
  );
  await asOwner(first, `/v1/workspaces/me/keys/${byDefault?.id}/rotate`, {});
  await first.stop({ keep: true });
  for (const file of await readdir(first.home, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(file.parentPath, file.name));
    for (const { secret } of [issued, rotated, stopped])
      expect(bytes.includes(secret), file.name).toBe(false);
  }

  const second = await startDaemon({ home: first.home });
  const statusWith = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await second.fetch('/v1/key', { headers });
    return [answer.status, answer.headers.get('x-service-key-expires')];
  };
  expect(await statusWith(issued.secret)).toEqual([200, rotated.previous?.ends_at]);
  expect(await statusWith(rotated.secret)).toEqual([200, null]);
  expect(await statusWith(stopped.secret)).toEqual([403, null]);
  const names = (await asOwner(second, '/v1/workspaces/me/keys')).data.map(({ name }) => name);
  expect(names.filter((name) => name === 'default')).toHaveLength(1);
  second.advance(minutes(61));
  expect(await statusWith(issued.secret)).toEqual([401, null]);
  await second.stop();
});
