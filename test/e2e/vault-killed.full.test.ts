import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';

const key = 'sk-KILLEDCANARY-0123456789abcdefghijklmno';
const place = '/v1/workspaces/me/provider-keys/openai';

let fake: FakeOpenAi;
let daemon: ChildDaemon;
let printed = '';
let answered = '';

beforeAll(async () => {
  fake = await startFakeOpenAi({ keys: [key] });
  const vault = 'vault: {keychain: false, insecure_plain_file: true}';
  const config = `${vault}\nproviders: {openai: {base_url: "${fake.baseUrl}"}}\n`;
  daemon = await startChildDaemon({ config, env: { GATEWAY_LOG_LEVEL: 'trace' } });
});

afterAll(async () => {
  await daemon.remove();
  await fake.close();
});

async function ask(path: string, method: string, json?: unknown) {
  const answer = await fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: JSON.stringify(json ?? {}),
  });
  const text = await answer.text();
  answered += text;
  return { status: answer.status, body: JSON.parse(text) };
}

async function killAndStart(): Promise<void> {
  daemon.signal('SIGKILL');
  await daemon.ended;
  printed += JSON.stringify(daemon.printed());
  daemon = await startChildDaemon({ home: daemon.home, env: { GATEWAY_LOG_LEVEL: 'trace' } });
}

test('a rotation killed at any moment leaves a vault that opens', async () => {
  expect((await ask(place, 'PUT', { key })).status).toBe(200);
  const kids = new Set<string>();
  for (const ms of [0, 2, 5, 11]) {
    const rotating = ask('/v1/admin/vault/rotate', 'POST').catch(() => {});
    await wait(ms);
    await killAndStart();
    await rotating;
    expect((await ask(`${place}/check`, 'POST', undefined)).body).toMatchObject({ result: 'good' });
    const call = { model: 'openai/gpt-4.1-mini', input: 'Hello.', service: { pay: 'mine' } };
    expect((await ask('/v1/responses', 'POST', call)).body.service.own_key).toBe(true);
    const { state, key_id: kid } = (await ask('/v1/admin/vault/unlock', 'POST')).body;
    expect(state).toBe('unlocked');
    kids.add(kid);
  }
  const { body } = await ask('/v1/admin/vault/rotate', 'POST');
  expect(body).toMatchObject({ state: 'unlocked', secrets: 1 });
  expect(readdirSync(daemon.home)).toContain(`master-key-${body.key_id}`);
});

test('no key or master key is in clear text in the database, an answer or the log', async () => {
  await ask(place, 'PUT', { key: key.toLowerCase() });
  await ask('/v1/responses', 'POST', {
    model: 'openai/gpt-4.1-mini',
    input: 'Hello.',
    service: { pay: 'mine' },
  });
  printed += JSON.stringify(daemon.printed());
  expect(printed.length).toBeGreaterThan(1000);
  const names = readdirSync(daemon.home);
  const masters = names
    .filter((name) => name.startsWith('master-key-'))
    .map((name) => readFileSync(join(daemon.home, name), 'utf8').trim())
    // One that was being written at a kill is empty; nothing refers to it.
    .filter((master) => master.length > 0);
  expect(masters.length).toBeGreaterThan(0);
  const places = names
    .filter((name) => /^gateway\.db/.test(name))
    .map((name): [string, Buffer] => [name, readFileSync(join(daemon.home, name))]);
  expect(places.length).toBeGreaterThan(0);
  for (const [name, bytes] of [
    ...places,
    ['the log', Buffer.from(printed)] as const,
    ['the answers', Buffer.from(answered)] as const,
  ]) {
    expect(bytes.toString('latin1').toLowerCase().includes('canary'), name).toBe(false);
    for (const master of masters) {
      expect(bytes.includes(master), name).toBe(false);
      expect(bytes.includes(Buffer.from(master, 'base64url')), name).toBe(false);
    }
  }
});
