import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type KeyServer, startKeyServer } from '../support/key-server.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let server: KeyServer;
let daemon: RunningDaemon;

const keys = {
  KEY_A: 'secret-key-a-aaaa1111',
  KEY_B: 'secret-key-b-bbbb2222',
  KEY_C: 'secret-key-c-cccc3333',
};
const { KEY_A: a, KEY_B: b, KEY_C: c } = keys;

beforeAll(async () => {
  server = await startKeyServer();
  const upstream = (name: string, keyEnv: string, more = '') =>
    `  - { name: ${name}, base_url: "${server.baseUrl}", models: [m, n], key_env: ${keyEnv}${more} }`;
  daemon = await startDaemon({
    config: [
      'vault: { keychain: false, insecure_plain_file: true }',
      'upstreams:',
      upstream('pool', '[KEY_A, KEY_B, KEY_C, KEY_UNSET]'),
      upstream('line', '[KEY_A, KEY_B, KEY_C]', ', key_order: first_free'),
      upstream('single', 'KEY_A'),
      upstream('twins', '[KEY_A, KEY_COPY]'),
      `providers: { openai: { base_url: "${server.baseUrl}", key_env: [KEY_A, KEY_B], key_order: first_free } }`,
    ].join('\n'),
    env: { ...keys, KEY_COPY: a },
  });
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

beforeEach(async () => {
  for (const key of Object.values(keys)) server.refuse(key, undefined);
  server.accept(undefined);
  for (const name of ['pool', 'line', 'openai']) await admin(`/v1/admin/providers/${name}/retry`, 'POST');
  server.keys.length = 0;
});

async function admin<T>(path: string, method = 'GET'): Promise<T> {
  const headers = { authorization: `Bearer ${daemon.login}` };
  return (await (await daemon.fetch(path, { method, headers })).json()) as T;
}

interface Called {
  status: number;
  requestId: string;
  body: { error?: { code: string; message: string } };
}

async function call(model: string, prompt: string, more: object = {}): Promise<Called> {
  const answer = await daemon.fetch('/v1/chat/completions', {
    json: { model, messages: [{ role: 'user', content: prompt }], ...more },
  });
  const requestId = answer.headers.get('x-request-id') ?? '';
  return { status: answer.status, requestId, body: (await answer.json()) as Called['body'] };
}

/** The keys that the provider got for a call. */
async function keysOf(model: string, prompt: string, more: object = {}): Promise<string[]> {
  const before = server.keys.length;
  expect((await call(model, prompt, more)).status).toBe(200);
  return server.keys.slice(before);
}

interface Shown {
  state: string;
  key: { variable: string; set: boolean };
  keys: { name: string; hint: string; attempts: number; failed: number; is_benched: boolean }[];
  benches: { key: string | null; model: string | null; reason: string }[];
}

/** Whether `providers health` and alerts see the provider as benched, for any of its models. */
async function isBenched(name: string): Promise<boolean> {
  const { data } = await admin<{ data: { provider: string; is_benched: boolean }[] }>('/v1/providers/health');
  return data.some(({ provider, is_benched: benched }) => provider === name && benched);
}

const show = (name: string) => admin<Shown>(`/v1/admin/providers/${name}`);

describe('calls of a provider with several keys', () => {
  test('are spread by conversation, and each conversation stays on its key', async () => {
    const used = new Map<string, number>();
    for (let index = 0; index < 60; index += 1) {
      const [first] = await keysOf('pool/m', `Conversation ${index}`);
      const again = await keysOf('pool/m', `Conversation ${index}`);
      expect(again).toEqual([first]);
      used.set(first ?? '', (used.get(first ?? '') ?? 0) + 1);
    }
    expect([...used.keys()].sort()).toEqual([a, b, c]);
    for (const count of used.values()) expect(count).toBeGreaterThan(5);
    // What clients say about their cache counts more than what they ask.
    const marked = new Set<string | undefined>();
    for (let index = 0; index < 10; index += 1)
      marked.add((await keysOf('pool/m', `Part ${index}`, { prompt_cache_key: 'agent' }))[0]);
    expect(marked.size).toBe(1);
  });

  test('take turns without a conversation', async () => {
    const used = new Set<string | undefined>();
    for (let index = 0; index < 3; index += 1) used.add((await keysOf('pool/m', ''))[0]);
    expect(used.size).toBe(3);
  });

  test('use the first key that is free, where the configuration says so', async () => {
    for (const prompt of ['One.', 'Two.']) expect(await keysOf('line/m', prompt)).toEqual([a]);
    expect(await keysOf('openai/gpt-5-mini', 'One.')).toEqual([a]);
  });

  test.each([
    ['a rate limit', { status: 429, headers: { 'retry-after': '30' } }, 'rate-limited', 'm'],
    ['a refused key', { status: 401 }, 'authentication', null],
    ['no credit', { status: 402 }, 'billing', null],
  ])(
    'go on with the next key after %s, which benches that key alone',
    async (_what, refusal, reason, model) => {
      server.refuse(a, refusal);
      expect(await keysOf('line/m', 'Hi.')).toEqual([a, b]);
      expect(await keysOf('line/m', 'Hi.')).toEqual([b]);
      // A key of which only one model is limited serves the others.
      expect(await keysOf('line/n', 'Hi.')).toEqual(model === null ? [b] : [a, b]);
      const shown = await show('line');
      expect(shown.state).toBe('available');
      expect(await isBenched('line')).toBe(false);
      expect(shown.benches[0]).toMatchObject({ key: 'KEY_A', model: model && 'line/m', reason });
      expect(shown.keys.map(({ name, is_benched: benched }) => [name, benched])).toEqual([
        ['KEY_A', true],
        ['KEY_B', false],
        ['KEY_C', false],
      ]);
      server.refuse(a, undefined);
      daemon.advance(61_000);
      expect(await keysOf('line/m', 'Hi.')).toEqual([a]);
    },
  );

  test('fail if all keys do, and then the provider is benched', async () => {
    server.accept([]);
    const failed = await call('line/m', 'Hi.');
    expect(failed.status).toBe(502);
    expect(server.keys).toEqual([a, b, c]);
    expect((await show('line')).state).toBe('benched');
    expect(await isBenched('line')).toBe(true);
    const refused = await call('line/m', 'Hi.');
    expect(refused.body.error?.code).toBe('no_route');
    expect(JSON.stringify([failed.body, refused.body])).not.toContain('secret-key');
  });

  test('do not repeat at another key what is no fault of the key', async () => {
    server.refuse(a, { status: 500 });
    expect((await call('line/m', 'Hi.')).status).toBe(502);
    expect(server.keys).toEqual([a]);
    server.keys.length = 0;
    server.refuse(a, { status: 400, message: 'No.' });
    expect((await call('line/m', 'Hi.')).status).toBe(400);
    expect(server.keys).toEqual([a]);
  });

  test('are counted by key, and their traces name it', async () => {
    const before = (await show('line')).keys;
    server.refuse(a, { status: 429 });
    const { requestId } = await call('line/m', 'Hi.');
    const after = (await show('line')).keys;
    const gained = after.map(({ attempts, failed }, index) => [
      attempts - (before[index]?.attempts ?? 0),
      failed - (before[index]?.failed ?? 0),
    ]);
    expect(gained).toEqual([
      [1, 1],
      [1, 0],
      [0, 0],
    ]);
    const trace = await eventually('the trace is there', async () => {
      const found = await admin<{ attempts?: { key?: string; status: number }[] }>(`/v1/traces/${requestId}`);
      return found.attempts && found;
    });
    expect(trace.attempts).toMatchObject([
      { key: 'KEY_A', status: 429 },
      { key: 'KEY_B', status: 200 },
    ]);
  });
});

describe('several keys of a workspace', () => {
  const place = '/v1/workspaces/me/provider-keys';
  const own = { first: 'sk-own-first-0123456789', second: 'sk-own-second-0123456789' };
  const set = async (path: string, method: string, json?: unknown) => {
    const answer = await daemon.fetch(`${place}/${path}`, {
      method,
      ...(json !== undefined && { body: JSON.stringify(json) }),
      headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    });
    return { status: answer.status, body: await answer.json() };
  };
  const mine = { service: { pay: 'mine' } };
  const callMine = (prompt: string) => keysOf('openai/gpt-5-mini', prompt, mine);

  test('take over from each other, and are set and deleted one by one', async () => {
    expect((await set('openai/second', 'PUT', { key: own.second })).body).toMatchObject({ name: 'second' });
    // A single key needs no name.
    expect(await callMine('Hi.')).toEqual([own.second]);
    expect((await set('openai', 'PUT', { key: own.first })).body).toMatchObject({ name: null });
    expect(await callMine('Hi.')).toEqual([own.first]);
    const { data } = await admin<{ data: { name: string | null }[] }>(place);
    expect(data.map(({ name }) => name)).toEqual([null, 'second']);

    server.refuse(own.first, { status: 429, headers: { 'retry-after': '60' } });
    expect(await callMine('Hi.')).toEqual([own.first, own.second]);
    expect(await callMine('Hi.')).toEqual([own.second]);
    server.refuse(own.second, { status: 401 });
    server.keys.length = 0;
    expect((await call('openai/gpt-5-mini', 'Hi.', mine)).status).not.toBe(200);
    expect(server.keys).toEqual([own.second, own.first]);
    const { benches } = await admin<Shown>('/v1/admin/providers/openai');
    expect(benches.map(({ key, reason }) => [key, reason])).toEqual(
      expect.arrayContaining([
        [null, 'rate-limited'],
        ['second', 'authentication'],
      ]),
    );
    expect(await keysOf('openai/gpt-5-mini', 'Hi.', { service: { pay: 'ours' } })).toEqual([a]);

    expect((await set('openai/second/check', 'POST')).body).toMatchObject({ result: 'refused' });
    // A new key ends the bench of the one that it replaces.
    const replaced = 'sk-own-third-0123456789';
    await set('openai/second', 'PUT', { key: replaced });
    expect(await callMine('Hi.')).toEqual([replaced]);
    expect((await set('openai', 'DELETE')).body).toMatchObject({ id: 'openai', deleted: true });
    expect(await callMine('Hi.')).toEqual([replaced]);
    expect((await set('openai/second', 'DELETE')).body).toMatchObject({ id: 'openai/second' });
    expect((await call('openai/gpt-5-mini', 'Hi.', mine)).status).not.toBe(200);
    expect((await set('openai/Not a name', 'PUT', { key: own.first })).status).toBe(404);
    expect((await set('openai/second/check', 'POST')).status).toBe(404);
  });

  test('are managed by commands', async () => {
    server.refuse(own.second, undefined);
    const env = { GATEWAY_HOME: daemon.home };
    const cli = (...args: string[]) => runCli(['provider-keys', ...args], { env, stdin: own.second });
    expect((await cli('set', 'openai', '--name', 'second')).code).toBe(0);
    expect((await cli('list')).stdout).toMatch(/^openai\t.*\tsecond$/m);
    expect((await cli('delete', 'openai', '--yes')).stderr).toContain('no key for "openai"');
    expect((await cli('check', 'openai', '--name', 'second')).code).toBe(0);
    expect((await cli('delete', 'openai', '--name', 'second', '--yes')).code).toBe(0);
  });
});

test('providers show lists the keys by name and last characters', async () => {
  const { keys: shown } = await show('pool');
  expect(shown.map(({ name, hint }) => [name, hint])).toEqual([
    ['KEY_A', '…1111'],
    ['KEY_B', '…2222'],
    ['KEY_C', '…3333'],
  ]);
  const { stdout } = await runCli(['providers', 'show', 'pool'], {
    env: { GATEWAY_HOME: daemon.home },
    tty: true,
    columns: 120,
  });
  expect(stdout).toMatch(/KEY_B\s+…2222/);
  expect(stdout).not.toContain('secret-key');
});

test('doctor’s check asks with each key', async () => {
  server.accept([a, c]);
  const { data } = await admin<{ data: { provider: string; key: string | null; problem: string | null }[] }>(
    '/v1/admin/providers/check',
    'POST',
  );
  expect(data.filter(({ provider }) => provider === 'pool')).toMatchObject([
    { key: 'KEY_A', problem: null },
    { key: 'KEY_B', problem: 'key' },
    { key: 'KEY_C', problem: null },
  ]);
});

test('a provider with one key, or with the same key twice, has no list of keys', async () => {
  for (const name of ['single', 'twins']) {
    expect((await show(name)).keys).toEqual([]);
    expect(await keysOf(`${name}/m`, 'Hi.')).toEqual([a]);
  }
});
