import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from '../support/fake-anthropic.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const claude = 'sk-ant-oat01-LOGINCANARY-0123456789abcdef';
const chatGpt = 'eyJMT0dJTkNBTkFSWQ.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl';
const hosts = 'sk-ant-api03-HOSTKEYCANARY-0123456789abcdef';

let anthropic: FakeAnthropic;
let openAi: FakeOpenAi;
let api: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  anthropic = await startFakeAnthropic({ keys: [hosts], logins: [claude] });
  openAi = await startFakeOpenAi({ keys: [chatGpt] });
  api = await startFakeOpenAi({ keys: ['sk-none'] });
  daemon = await startDaemon({
    env: { ANTHROPIC_API_KEY: hosts },
    config: `margin_percent: 10
local_servers: false
providers:
  anthropic: {base_url: "${anthropic.baseUrl}"}
  openai: {base_url: "${api.baseUrl}", login_url: "${openAi.baseUrl}"}
`,
  });
});

afterAll(async () => {
  await daemon?.stop();
  await Promise.all([anthropic?.close(), openAi?.close(), api?.close()]);
});

interface Answered {
  status: number;
  text: string;
  body: {
    error?: { message: string; code: string };
    service?: Record<string, unknown>;
    [member: string]: unknown;
  };
}

async function ask(
  path: string,
  { body, headers }: { body?: object; headers: Record<string, string> },
): Promise<Answered> {
  const answer = await fetch(daemon.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
}

const message = (more: object = {}) => ({
  model: 'claude-sonnet-5',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hello.' }],
  ...more,
});
const withLogin = (token = claude) => ({ authorization: `Bearer ${token}`, 'x-gateway-key': daemon.key });
const traceOf = async (requestId: string | null) =>
  (await ask(`/v1/traces/${requestId}`, { headers: { authorization: `Bearer ${daemon.login}` } })).body;
const lastTrace = async () => {
  const { body } = await ask('/v1/traces?limit=1', { headers: { authorization: `Bearer ${daemon.login}` } });
  return (body.data as Record<string, unknown>[])[0] ?? {};
};

describe('a Claude login beside the key', () => {
  test('is passed to Anthropic alone, with the betas of the client, and costs nothing', async () => {
    anthropic.forget();
    const { status, body } = await ask('/v1/messages?beta=true', {
      body: message(),
      headers: { ...withLogin(), 'anthropic-beta': 'oauth-2025-04-20', 'anthropic-version': '2023-06-01' },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const [sent] = anthropic.requests;
    expect(sent?.headers).toMatchObject({
      authorization: `Bearer ${claude}`,
      'anthropic-beta': 'oauth-2025-04-20',
    });
    expect(sent?.headers).not.toHaveProperty('x-api-key');
    expect(sent?.headers).not.toHaveProperty('x-gateway-key');
    const trace = await lastTrace();
    expect(trace).toMatchObject({
      provider: 'anthropic',
      own_key: true,
      billing: 'subscription',
      charged_usd: '0',
      cost: { provider_usd: '0', margin_usd: '0', total_usd: '0' },
    });
    expect(Number(trace.list_cost_usd)).toBeGreaterThan(0);
    const key = (await traceOf(String(trace.request_id))).key;
    expect(key).toBe(trace.key);
  });

  test('works as a stream and for counting, and with the key in the path', async () => {
    anthropic.forget();
    const path = `/k/${daemon.key}/v1/messages`;
    const { status, text } = await ask(path, {
      body: message({ stream: true }),
      headers: { authorization: `Bearer ${claude}` },
    });
    expect(status, text).toBe(200);
    expect(text).toContain('message_stop');
    const counted = await ask(`/k/${daemon.key}/v1/messages/count_tokens`, {
      body: { ...message(), max_tokens: undefined },
      headers: { authorization: `Bearer ${claude}` },
    });
    expect(counted.body).toEqual({ input_tokens: 4242 });
    expect(anthropic.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill(`Bearer ${claude}`),
    );
    const models = await ask(`/k/${daemon.key}/v1/models`, { headers: {} });
    expect(models.status).toBe(200);
  });

  test('reaches no other provider, whatever the call names', async () => {
    api.forget();
    openAi.forget();
    anthropic.forget();
    const { status, body } = await ask('/v1/messages', {
      body: message({ model: 'gpt-4.1-mini', service: { fallbacks: ['gpt-4.1'] } }),
      headers: withLogin(),
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body.error?.message).toContain("the client's login is for anthropic only");
    expect([...api.requests, ...openAi.requests, ...anthropic.requests]).toEqual([]);
  });

  test('that is refused benches nobody else, nor is it shown in the error', async () => {
    const bad = 'sk-ant-oat01-BADLOGINCANARY-0123456789';
    const { status, text } = await ask('/v1/messages', { body: message(), headers: withLogin(bad) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('BADLOGINCANARY');
    expect((await ask('/v1/messages', { body: message(), headers: withLogin() })).status).toBe(200);
    const hostPaid = await ask('/v1/messages', {
      body: message(),
      headers: { authorization: `Bearer ${daemon.key}` },
    });
    expect(hostPaid.status).toBe(200);
    expect(anthropic.requests.at(-1)?.headers['x-api-key']).toBe(hosts);
    expect(await lastTrace()).not.toHaveProperty('billing');
  });

  test('needs a key of the gateway that is valid', async () => {
    anthropic.forget();
    const wrong: Record<string, string>[] = [
      { authorization: `Bearer ${claude}` },
      { authorization: `Bearer ${claude}`, 'x-gateway-key': 'gwk_wrong' },
      { authorization: `Bearer ${daemon.key}`, 'x-gateway-key': 'gwk_wrong' },
    ];
    for (const headers of wrong)
      expect((await ask('/v1/messages', { body: message(), headers })).status).toBe(401);
    expect((await ask('/k/gwk_wrong/v1/messages', { body: message(), headers: {} })).status).toBe(401);
    expect(anthropic.requests).toEqual([]);
  });
});

describe('a ChatGPT login beside the key', () => {
  const call = { model: 'gpt-5', input: 'Hello.', store: false };

  test("is passed to ChatGPT's back end with its account", async () => {
    openAi.forget();
    const { status, body } = await ask('/v1/responses', {
      body: call,
      headers: {
        ...withLogin(chatGpt),
        'chatgpt-account-id': 'acct_1',
        originator: 'codex_cli_rs',
        session_id: 'session_1',
      },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.service).toMatchObject({
      own_key: true,
      billing: 'subscription',
      charged_usd: '0',
      cost: { total_usd: '0' },
    });
    expect(openAi.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${chatGpt}`,
      'chatgpt-account-id': 'acct_1',
      originator: 'codex_cli_rs',
    });
    expect(api.requests).toEqual([]);
  });

  test('a placeholder in place of a login is ignored', async () => {
    const { status } = await ask('/v1/responses', {
      body: { ...call, model: 'sim/echo' },
      headers: withLogin('placeholder'),
    });
    expect(status).toBe(200);
  });
});

test('no login is shown with a call, nor in any file of the data folder', async () => {
  const { body } = await ask('/v1/traces?limit=20', { headers: { authorization: `Bearer ${daemon.login}` } });
  const ids = (body.data as Array<{ request_id: string }>).map(({ request_id: id }) => id);
  expect(ids.length).toBeGreaterThan(3);
  for (const id of ids) {
    const headers = { authorization: `Bearer ${daemon.login}` };
    const shown = [
      await ask(`/v1/traces/${id}`, { headers }),
      await ask(`/v1/traces/${id}/content`, { headers }),
    ];
    expect(shown.map(({ text }) => text).join('')).not.toMatch(/LOGINCANARY|eyJMT0dJTkNBTkFSWQ/);
  }
  const texts: string[] = [];
  const read = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const found = statSync(path);
      if (found.isDirectory()) read(path);
      else if (found.isFile()) texts.push(readFileSync(path, 'latin1'));
    }
  };
  read(daemon.home);
  expect(texts.length).toBeGreaterThan(3);
  for (const canary of ['LOGINCANARY', chatGpt])
    expect(texts.some((text) => text.includes(canary))).toBe(false);
});
