import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What the host's owner sees of a provider and does about it, as `gateway providers` and `gateway doctor`. */
const key = 'sk-acme-never-shown-0123456789';
let acme: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  acme = await startFakeOpenAi();
  daemon = await startDaemon({
    config: [
      'upstreams:',
      `  - { name: acme, base_url: "${acme.baseUrl}", key_env: ACME_KEY, models: [fake, other] }`,
      `  - { name: edited, base_url: "${acme.baseUrl}", models: [fake], drop: [seed, messages.name], rename: { user: safety_identifier } }`,
      '  - { name: gone, base_url: "http://127.0.0.1:9/v1", models: [fake] }',
    ].join('\n'),
    env: { ACME_KEY: key },
  });
});

afterAll(async () => {
  await daemon.stop();
  await acme.close();
});

beforeEach(() => acme.forget());

const ask = (model: string, more: object = {}) =>
  daemon.fetch('/v1/chat/completions', {
    json: { model, messages: [{ role: 'user', content: 'Hello.' }], ...more },
  });
const cli = async (...args: string[]) => {
  const { stdout, code, stderr } = await runCli([...args, '--json'], { env: { GATEWAY_HOME: daemon.home } });
  expect(stdout + stderr).not.toContain(key);
  return { code, json: JSON.parse(stdout || 'null') };
};
const noCredit = { error: { status: 402, message: 'Insufficient credits.' } };

test('a sole provider that is out of credit is tried again at once after `providers retry`', async () => {
  acme.script(noCredit);
  expect((await ask('acme/fake')).status).toBe(502);
  expect((await ask('acme/other')).status).toBe(503);
  const { json: shown } = await cli('providers', 'show', 'acme');
  expect(shown).toMatchObject({
    provider: 'acme',
    kind: 'compatible',
    base_url: acme.baseUrl,
    key: { variable: 'ACME_KEY', set: true },
    models: 2,
    state: 'benched',
    reason: 'billing',
    benches: [
      { workspace: null, key: null, model: null, reason: 'billing', next_attempt_at: expect.any(String) },
    ],
  });
  const retried = await cli('providers', 'retry', 'acme');
  expect(retried.json).toEqual([{ workspace: null, key: null, model: null, reason: 'billing' }]);
  expect((await ask('acme/other')).status).toBe(200);
  expect((await cli('providers', 'retry', 'acme')).json).toEqual([]);
  expect((await cli('providers', 'show', 'acme')).json).toMatchObject({ state: 'available', benches: [] });
  expect((await cli('providers', 'retry', 'nosuch')).code).not.toBe(0);
});

test('a failed call and its bench are of the same provider and model', async () => {
  acme.script({ error: { status: 429, message: 'Slow down.' } });
  await ask('acme/other');
  const { json: health } = await cli('providers', 'health');
  const rows = health.filter(({ provider }: { provider: string }) => provider === 'acme');
  expect(rows.find(({ model }: { model: string }) => model === 'acme/other')).toMatchObject({
    is_benched: true,
  });
  expect(rows.filter(({ attempts }: { attempts: number }) => attempts === 0)).toEqual([]);
  const { json: failed } = await cli('traces', 'list', 'status:failed provider:acme', '--limit', '1');
  expect(failed).toMatchObject([{ model: 'acme/other', provider: 'acme', error_code: 'rate_limited' }]);
  const { benches } = (await cli('providers', 'show', 'acme')).json;
  expect(benches).toMatchObject([{ model: 'acme/other', reason: 'rate-limited' }]);
  await cli('providers', 'retry', 'acme');
});

test('doctor asks each provider, and ends the bench of one that answers', async () => {
  acme.script(noCredit);
  await ask('acme/fake');
  const { code, json } = await cli('doctor');
  expect(code).toBe(1);
  const online = (json as { check: string; state: string; message: string; remedy: string | null }[]).filter(
    ({ check }) => check === 'online',
  );
  expect(online).toMatchObject([
    { state: 'ok', message: 'acme: it answers and accepts the key, and is not benched any more' },
    { state: 'ok', message: 'edited: it answers' },
    { state: 'broken', message: expect.stringMatching(/^gone: .*ECONNREFUSED/), remedy: expect.any(String) },
  ]);
  expect((await ask('acme/other')).status).toBe(200);
});

test('members are left out and renamed as configured, which is reported and shown', async () => {
  const messages = [{ role: 'user', name: 'ann', content: 'Hello.' }];
  const answer = await ask('edited/fake', { messages, user: 'bob', seed: 7 });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-service-dropped')).toBe('seed, messages.name');
  const { body } = acme.requests[0] as { body: Record<string, unknown> };
  expect(body).toMatchObject({ messages: [{ role: 'user', content: 'Hello.' }], safety_identifier: 'bob' });
  expect(JSON.stringify(body)).not.toMatch(/ann|seed|"user":"bob"/);
  expect((await cli('providers', 'show', 'edited')).json).toMatchObject({
    key: { variable: null, set: false },
    dropped: ['seed', 'messages.name'],
    renamed: { user: 'safety_identifier' },
  });
});

test('what a model turned out to refuse is shown, and forgotten when the configuration is read again', async () => {
  const refuses = (param: string) => ({
    error: {
      status: 400,
      message: `Unsupported parameter: '${param}' is not supported with this model.`,
      param,
    },
  });
  acme.script(refuses('temperature'), {}, refuses('max_tokens'), {});
  expect((await ask('acme/fake', { temperature: 0.5 })).status).toBe(200);
  expect((await ask('acme/fake', { max_tokens: 50 })).status).toBe(200);
  const { json } = await cli('providers', 'show', 'acme');
  expect(json.learned).toMatchObject([
    { model: 'fake', member: 'temperature', change: 'left-out', becomes: null },
    { model: 'fake', member: 'max_tokens', change: 'renamed', becomes: 'max_completion_tokens' },
  ]);
  const { learned_at: at, forgotten_at: until } = json.learned[0];
  expect(Date.parse(until) - Date.parse(at)).toBe(3_600_000);
  expect((await cli('reload')).code).toBe(0);
  expect((await cli('providers', 'show', 'acme')).json.learned).toEqual([]);
});
