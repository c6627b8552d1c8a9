import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ModelEntry } from '../../src/shared/contract/models.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const good = 'sk-OWNKEYCANARY-0123456789abcdefghijklmnop';
const bad = 'sk-BADKEYCANARY-0123456789abcdefghijklmnop';
const hosts = 'sk-HOSTKEYCANARY-0123456789abcdefghijklmn';
const model = 'openai/gpt-4.1-mini';

interface Answer {
  status: number;
  headers: Headers;
  body: {
    error?: { type: string; code: string; message: string; param: string | null };
    service?: { provider: string; own_key: boolean; charged_usd: string; cost: Record<string, string> };
    [member: string]: unknown;
  };
}

let fake: FakeOpenAi;
let daemon: RunningDaemon;

const config = () => `vault: {keychain: false, insecure_plain_file: true}
margin_percent: 10
providers: {openai: {base_url: "${fake.baseUrl}"}}
`;

async function ask(
  path: string,
  init: { method?: string; json?: unknown; as?: string } = {},
): Promise<Answer> {
  const answer = await fetch(daemon.url + path, {
    method: init.method ?? (init.json === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${init.as ?? daemon.login}`,
      ...(init.json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.json !== undefined && { body: JSON.stringify(init.json) }),
  });
  const { status, headers } = answer;
  return { status, headers, body: (await answer.json()) as Answer['body'] };
}

const place = '/v1/workspaces/me/provider-keys';
const put = (key: string, as?: string) =>
  ask(`${place}/openai`, { method: 'PUT', json: { key }, ...(as && { as }) });
const call = (service?: object) =>
  ask('/v1/responses', {
    json: { model, input: 'Hello.', store: false, ...(service && { service }) },
    as: daemon.key,
  });
const issue = async (scopes: string[]) =>
  (await ask('/v1/workspaces/me/keys', { json: { scopes } })).body.secret as string;

beforeAll(async () => {
  fake = await startFakeOpenAi({ keys: [good, hosts] });
  daemon = await startDaemon({ config: config() });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

beforeEach(() => fake.forget());

describe('setting a key', () => {
  test('shows the provider and a fingerprint, never the key', async () => {
    const { status, body } = await put(good);
    expect(status).toBe(200);
    expect(body).toEqual({
      provider: 'openai',
      name: null,
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      added_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const list = await ask(place);
    expect(list.body).toEqual({ object: 'list', data: [body], has_more: false, next: null });
    expect(JSON.stringify(list.body)).not.toContain('CANARY');
  });

  test('replaces the previous key; the date added stays', async () => {
    const first = (await put(good)).body;
    const second = (await put(bad)).body;
    expect(second.fingerprint).not.toBe(first.fingerprint);
    expect(second.added_at).toBe(first.added_at);
    expect((await ask(place)).body.data).toHaveLength(1);
    await put(good);
  });

  test.each([
    ['openai', 'sk-ant-0123456789abcdefghijk', /a key for anthropic/],
    ['openai', 'sk-or-0123456789abcdefghijkl', /a key for openrouter/],
    ['openai', 'sk-short', /20 to 512/],
    ['openai', 'sk-with a space 0123456789ab', /visible ASCII/],
    ['openai', `sk-${'x'.repeat(600)}`, /20 to 512/],
    ['anthropic', good, /`sk-ant-`/],
    ['google', 'AIzz0123456789abcdefghijklmn', /`AIza` or `AQ.`/],
    ['vercel', 'vc_0123456789abcdefghijklmno', /`vck_`/],
    ['openrouter', good, /`sk-or-`/],
  ])('%s rejects %s', async (provider, key, message) => {
    const { status, body } = await ask(`${place}/${provider}`, { method: 'PUT', json: { key } });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request', param: 'key' });
    expect(body.error?.message).toMatch(message);
    expect(body.error?.message).not.toContain(key);
  });

  test.each([
    ['google', 'AIzaSy0123456789abcdefghijklm'],
    ['google', 'AQ.0123456789abcdefghijklmnop'],
    ['anthropic', 'sk-ant-api03-0123456789abcdef'],
    ['openrouter', 'sk-or-v1-0123456789abcdefghij'],
    ['vercel', 'vck_0123456789abcdefghijklmno'],
  ])('%s accepts the form %s', async (provider, key) => {
    expect((await ask(`${place}/${provider}`, { method: 'PUT', json: { key } })).status).toBe(200);
    expect((await ask(`${place}/${provider}`, { method: 'DELETE' })).body).toEqual({
      id: provider,
      object: 'provider_key',
      deleted: true,
    });
  });

  test('requires the login of an owner or a key with the scope `workspace`', async () => {
    expect((await put(good, daemon.key)).body.error?.code).toBe('out_of_scope');
    expect((await put(good, await issue(['keys', 'responses']))).body.error?.code).toBe('out_of_scope');
    expect((await put(good, await issue(['workspace']))).status).toBe(200);
    expect((await put(good, 'gwk_nothing')).status).toBe(401);
  });
});

describe('a call on the workspace’s own key', () => {
  test.each([{ pay: 'mine' }, undefined])('is charged nothing, with service %o', async (service) => {
    await put(good);
    const { status, body, headers } = await call(service);
    expect(status).toBe(200);
    expect(headers.get('x-service-cost-usd')).toBe(body.service?.cost.total_usd);
    expect(fake.requests.at(-1)?.headers.authorization).toBe(`Bearer ${good}`);
    expect(body.service).toMatchObject({ provider: 'openai', own_key: true });
    expect(Number(body.service?.charged_usd)).toBe(0);
    expect(Number(body.service?.cost.provider_usd)).toBeGreaterThan(0);
    expect(Number(body.service?.cost.margin_usd)).toBe(0);
    expect(body.service?.cost.total_usd).toBe(body.service?.cost.provider_usd);
  });

  test.each([
    ['a response', '/v1/responses', { model, input: 'Hello.', store: false }],
    ['a stream', '/v1/responses', { model, input: 'Hello.', store: false, stream: true }],
    [
      'a stream of a translated call',
      '/v1/messages',
      { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hello.' }], stream: true },
    ],
    ['embeddings', '/v1/embeddings', { model: 'openai/text-embedding-3-small', input: 'Hello.' }],
  ])('passes on the limits of the account there: %s', async (_name, path, body) => {
    await put(good);
    fake.script({ headers: limits });
    const headers = { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' };
    const answer = await fetch(daemon.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    await answer.text();
    expect(answer.status).toBe(200);
    expect(limitsIn(answer.headers)).toEqual({ 'x-ratelimit-remaining-requests': '59' });
  });

  test('passes them on with a 429, too', async () => {
    await put(good);
    fake.script({ headers: limits, error: { status: 429, message: 'Slow down.' } });
    const { status, headers } = await call();
    expect(status).toBe(429);
    expect(limitsIn(headers)).toEqual({ 'x-ratelimit-remaining-requests': '59' });
    await put(good);
  });

  test('is for a model that the list shows as available, to the workspace only', async () => {
    await put(good);
    const availabilityFor = async (as: string) =>
      ((await ask(`/v1/models/${model}`, { as })).body as unknown as ModelEntry).service;
    expect((await availabilityFor(daemon.key)).providers[0]).toMatchObject({ available: true, reason: null });
    const answer = await fetch(`${daemon.url}/v1/models/${model}`);
    expect(((await answer.json()) as ModelEntry).service.providers[0]).toMatchObject({ available: false });
    await ask(`${place}/openai`, { method: 'DELETE' });
    expect((await availabilityFor(daemon.key)).providers[0]).toMatchObject({ available: false });
    await put(good);
  });

  test('counts as paid in the tokens served, and as own-key in the usage', async () => {
    const before = (await ask('/v1/usage/tokens-served')).body as unknown as Served;
    await call({ pay: 'mine' });
    const after = (await ask('/v1/usage/tokens-served')).body as unknown as Served;
    expect(sum(after, 'own_key') - sum(before, 'own_key')).toBeGreaterThan(0);
    expect(paid(after) - paid(before)).toBeGreaterThan(0);
  });

  test('a key that the provider rejects is not used again until it is replaced', async () => {
    await put(bad);
    const refused = await call({ pay: 'mine' });
    expect(refused.status).toBe(502);
    expect(JSON.stringify(refused.body)).not.toContain('CANARY');
    const count = fake.requests.length;
    const benched = await call({ pay: 'mine' });
    expect(benched.status).toBe(503);
    expect(benched.body.error?.message).toMatch(/rejected the workspace's API key/);
    expect(fake.requests).toHaveLength(count);
    await put(good);
    expect((await call({ pay: 'mine' })).status).toBe(200);
  });

  test('without a key, `no_route` says how to set one', async () => {
    await ask(`${place}/openai`, { method: 'DELETE' });
    const { status, body } = await call({ pay: 'mine' });
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ type: 'no_route', code: 'no_route' });
    expect(body.error?.message).toContain('gateway provider-keys set openai');
    const absent = (await call()).body.error;
    expect(absent?.code).toBe('no_route');
    expect(absent?.message).toMatch(/OPENAI_API_KEY.*gateway provider-keys set openai/);
    expect(fake.requests).toHaveLength(0);
    await put(good);
  });
});

const limits = { 'x-ratelimit-remaining-requests': '59', 'set-cookie': 'a=b', 'openai-organization': 'acme' };
const limitsIn = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => /ratelimit|cookie|organization/.test(name)));

interface Served {
  days: { by_caller: Record<string, number>; by_price_tier: Record<string, number> }[];
}
const sum = ({ days }: Served, who: string) => days.reduce((all, day) => all + (day.by_caller[who] ?? 0), 0);
const paid = ({ days }: Served) => days.reduce((all, day) => all + (day.by_price_tier.paid ?? 0), 0);

describe('checking a key', () => {
  test('distinguishes good, rejected and unreachable, and a missing key', async () => {
    await put(good);
    const check = () => ask(`${place}/openai/check`, { method: 'POST' });
    expect((await check()).body).toMatchObject({ provider: 'openai', result: 'good' });
    await put(bad);
    expect((await check()).body).toMatchObject({ result: 'refused' });
    await put(good);
    const missing = await ask(`${place}/google/check`, { method: 'POST' });
    expect(missing.status).toBe(404);
    expect(missing.body.error?.message).toContain('gateway provider-keys set google');
  });
});

test('no key is in clear text in the data folder, an error or the log', async () => {
  await put(good);
  await call({ pay: 'mine' });
  const files = everyFile(daemon.home);
  expect(files.some(([name]) => name.endsWith('gateway.db'))).toBe(true);
  for (const [name, bytes] of files) {
    for (const secret of [good, bad, hosts]) {
      expect(bytes.includes(secret), `${name} holds a key`).toBe(false);
      expect(bytes.includes(Buffer.from(secret).toString('base64url')), name).toBe(false);
    }
  }
  const master = files
    .filter(([name]) => /master-key-/.test(name))
    .map(([, bytes]) => bytes.toString().trim());
  expect(master).toHaveLength(1);
  for (const [name, bytes] of files.filter(([file]) => !/master-key-/.test(file))) {
    expect(bytes.includes(master[0] as string), name).toBe(false);
    expect(bytes.includes(Buffer.from(master[0] as string, 'base64url')), name).toBe(false);
  }
  expect(JSON.stringify(daemon.printed())).not.toContain('CANARY');
});

function everyFile(folder: string): [string, Buffer][] {
  return readdirSync(folder).flatMap((name): [string, Buffer][] => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? everyFile(path) : [[path, readFileSync(path)]];
  });
}

describe('alongside an account of the host', () => {
  test('`mine` uses the own key, and its rejection does not disable the host’s', async () => {
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ config: config(), home: daemon.home, env: { OPENAI_API_KEY: hosts } });
    await put(bad);
    expect((await call()).body.service).toMatchObject({ own_key: false });
    expect(fake.requests.at(-1)?.headers.authorization).toBe(`Bearer ${hosts}`);
    expect((await call({ pay: 'mine' })).status).toBe(502);
    fake.script({ headers: limits });
    const ours = await call({ pay: 'ours' });
    expect(ours.status).toBe(200);
    expect(limitsIn(ours.headers)).toEqual({});
    expect(Number(ours.body.service?.charged_usd)).toBeGreaterThan(0);
    const status = (await ask('/v1/admin/status')).body as unknown as {
      providers: { name: string; state: string }[];
      vault: { state: string; store: string };
    };
    expect(status.providers.find(({ name }) => name === 'openai')?.state).toBe('available');
    expect(status.vault).toMatchObject({ state: 'unlocked', store: 'plain' });
    await put(good);
    expect((await call({ pay: 'mine' })).body.service).toMatchObject({ own_key: true });
    expect(fake.requests.at(-1)?.headers.authorization).toBe(`Bearer ${good}`);
  });
});

test('a workspace without credit can use its own key, but not the host’s', async () => {
  await daemon.stop({ keep: true });
  daemon = await startDaemon({
    config: `${config()}billing: {mode: prepaid}\n`,
    home: daemon.home,
    env: { OPENAI_API_KEY: hosts },
  });
  await put(good);
  expect((await call({ pay: 'ours' })).status).toBe(402);
  const mine = await call({ pay: 'mine' });
  expect(mine.body.service).toMatchObject({ own_key: true, charged_usd: '0' });
});
