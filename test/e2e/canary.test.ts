import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUpAgent } from '../support/agents.ts';
import {
  address,
  canaries,
  canaryConfig,
  canaryEnv,
  echoes,
  everythingShown,
  expectNowhere,
  failureIn,
  filesOf,
  telling,
  tellingHeaders,
} from '../support/canaries.ts';
import { answers } from '../support/chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { completeCall } from '../support/model-client.ts';
import { type SpanCollector, startSpanCollector } from '../support/span-collector.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** The core of `canary.full.test.ts`: each way in once, and all places. */

let chaos: ChaosUpstream;
let collector: SpanCollector;
let daemon: RunningDaemon;
/** What callers learned of failures. */
const failures = new Map<string, string>();
let hookSecret = '';
let agent = '';

beforeAll(async () => {
  chaos = await startChaosUpstream(answers());
  collector = await startSpanCollector();
  daemon = await startDaemon({
    config: `agents: {difficulty: 4}\n${canaryConfig(chaos.baseUrl)}`,
    env: {
      ...canaryEnv,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-canary=${canaries.otlpHeader}`,
    },
  });
  await ask('PUT', '/v1/capture/wire', { minutes: 60 });
});

afterAll(async () => {
  await daemon.stop();
  await collector.close();
  await chaos.close();
});

async function ask(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(daemon.url + path, {
    method,
    body: json === undefined ? null : JSON.stringify(json),
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json', ...headers },
  });
  const text = await answer.text();
  if (answer.status >= 400) failures.set(`${method} ${path}`, text);
  return { status: answer.status, text };
}

test.each(['responses', 'chat', 'messages'] as const)(
  'calls in the format %s, whose provider repeats all',
  async (wire) => {
    for (const [how, behaviour] of echoes) {
      for (const stream of [true, false]) {
        // Errors that concern the account close a provider: each has its own model.
        const model = chaos.addModel(how.endsWith('401') ? `${wire}-odd` : wire, behaviour);
        const more = { ...telling(wire, daemon), ...(wire === 'responses' && { store: true }) };
        const answer = await completeCall(daemon, {
          wire,
          model,
          stream,
          more,
          headers: tellingHeaders(daemon),
        });
        failures.set(`${wire} ${how} ${stream}`, failureIn(answer));
        expect(chaos.calls.at(-1)?.head).toContain(canaries.upstreamHeader);
      }
    }
  },
);

test('requests that fail, with credentials where none belong', async () => {
  agent = (await signUpAgent(daemon)).secret;
  const l402 = `L402 ${canaries.macaroon}:${canaries.preimage}`;
  for (const secret of [daemon.key, daemon.login, agent, canaries.providerKey]) {
    await ask('POST', `/v1/${secret}/chat/completions?api_key=${secret}`, { model: secret, messages: [] });
    await ask('POST', `/v1/responses?api_key=${secret}`, { model: secret, input: secret, user: secret });
    await ask('GET', `/v1/traces?limit=${secret}&key=${secret}`);
    await ask('GET', `/v1/models?key=${secret}`, undefined, { authorization: l402, cookie: secret });
  }
  await ask('POST', '/v1/responses', { model: 'responses/any', input: 'Hello' }, { authorization: l402 });
});

test('a conversation goes on with what the model needs again, and without what clients send each time', async () => {
  const model = chaos.addModel('responses', answers());
  const more = { ...telling('responses', daemon), store: true };
  const first = await completeCall(daemon, { wire: 'responses', model, stream: false, more });
  const { id, tools } = JSON.parse(first.text) as { id: string; tools: unknown[] };
  expect(tools).toEqual([
    {
      type: 'mcp',
      server_label: 'notes',
      server_url: 'https://mcp.example/s/[removed]/mcp?profile=team',
      headers: { 'X-Team': '[removed]' },
    },
  ]);
  await completeCall(daemon, {
    wire: 'responses',
    model,
    stream: false,
    prompt: 'Go on.',
    more: { previous_response_id: id },
  });
  const again = chaos.calls.at(-1)?.body as { input: unknown[]; tools?: unknown };
  expect(JSON.stringify(again.input)).toContain(`"image_url":"${address}"`);
  expect(again.tools).toBeUndefined();
  const { text } = await ask('GET', `/v1/responses/${id}/input_items`);
  expect(text).toContain(
    'https://[removed]@files.example/a.png?X-Amz-Signature=[removed]&token=[removed]&w=1',
  );
});

test('threads, background responses and answers that are sent again', async () => {
  const model = chaos.addModel('responses', echoes[0]?.[1] ?? answers());
  const body = { model, ...telling('responses', daemon) };
  const thread = JSON.parse((await ask('POST', '/v1/threads', {})).text) as { id: string };
  for (const _turn of [1, 2]) await ask('POST', '/v1/responses', { ...body, conversation: thread.id });
  expect(JSON.stringify(chaos.calls.at(-1)?.body)).toContain(canaries.urlSignature);
  const { text } = await ask('POST', '/v1/responses', { ...body, background: true, stream: true });
  expect(text).toContain('response.completed');
  const once = { 'idempotency-key': 'canary-once' };
  const answered = await ask('POST', '/v1/responses', { ...body, store: false }, once);
  expect(await ask('POST', '/v1/responses', { ...body, store: false }, once)).toEqual(answered);
  await ask('POST', '/v1/responses', { ...body, service: { cache: 'read-write' } });
});

test('paywalls and web hooks, whose secrets only their own servers get', async () => {
  await ask('POST', '/api/agents/me/wallet', {});
  const upstream = { url: 'http://127.0.0.1:9', headers: { 'x-canary': canaries.paywallHeader } };
  const made = JSON.parse((await ask('POST', '/api/l402/paywalls', { priceSats: 10, upstream })).text);
  const { id, upstream: shown } = made.data as { id: string; upstream: typeof upstream };
  expect(shown.headers['x-canary']).toMatch(/^[0-9a-f]{12}$/);
  // The fingerprint stands for the value, and another value for itself.
  const change = { upstream: { headers: { ...shown.headers, 'x-other': 'public' } } };
  const changed = JSON.parse((await ask('PATCH', `/api/l402/paywalls/${id}`, change)).text);
  expect(changed.data.upstream.headers).toMatchObject(shown.headers);
  const hook = `http://127.0.0.1:9/${canaries.hookAddress}`;
  const settings = { kind: 'spend', window_minutes: 60, threshold: '5', webhook_url: hook };
  const alert = JSON.parse((await ask('PUT', '/v1/workspaces/me/alerts/dear', settings)).text);
  hookSecret = alert.webhook_secret;
  expect(hookSecret).toMatch(/^whsec_/);
});

test('a change of the configuration', async () => {
  const { writeFile, readFile } = await import('node:fs/promises');
  const file = `${daemon.home}/config.yaml`;
  const before = await readFile(file, 'utf8');
  const keyed = before.replaceAll('/v1"', `/v1?api_key=${canaries.urlToken}"`);
  await writeFile(file, keyed.replaceAll('x-service-auth', 'x-service-other'));
  const { text } = await ask('POST', '/v1/admin/reload');
  expect(JSON.parse(text).changed).toContain('upstreams');
  failures.set('configuration', (await ask('GET', '/v1/admin/configuration')).text);
  await writeFile(file, before);
  await ask('POST', '/v1/admin/reload');
});

/** Every place where a secret could be. */
async function places(): Promise<Map<string, string>> {
  const { stdout, stderr } = daemon.printed();
  await ask('POST', '/v1/admin/backups', { with_content: true });
  return new Map([
    ...(await everythingShown(daemon)),
    ...filesOf(daemon),
    ...failures,
    ['stdout', stdout],
    ['stderr', stderr],
    ...collector.requests.map(({ text }, at): [string, string] => [`spans ${at}`, text]),
  ]);
}

test('afterwards no secret is kept, shown, exported or logged', async () => {
  const found = await places();
  // Each place has something of the calls.
  for (const place of ['gateway.log', 'stderr', '/v1/traces/search?limit=100&text=files.example'])
    expect(found.get(place)?.length, place).toBeGreaterThan(200);
  expect(found.get('/v1/traces/export?format=har&content=wire')).toContain('files.example');
  expectNowhere({ ...canaries, agent, hookSecret, key: daemon.key, login: daemon.login }, found);
});
