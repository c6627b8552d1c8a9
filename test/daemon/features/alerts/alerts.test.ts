import { createHmac } from 'node:crypto';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import type { LoginCaller } from '../../../../src/daemon/base/handler.ts';
import type { OutgoingRequest } from '../../../../src/daemon/base/world.ts';
import { Alerts, createSampler, Deliveries, Hooks } from '../../../../src/daemon/features/alerts/index.ts';
import type { BenchPeriod } from '../../../../src/daemon/features/routing/index.ts';
import { createDataSealer } from '../../../../src/daemon/features/vault/index.ts';
import type { AlertSettings } from '../../../../src/shared/contract/alerts.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { aHold, aSettlement, aUsage, owner } from '../../../storage/records.ts';
import { eventually } from '../../../support/eventually.ts';
import { fakeWorld, startOfFakeTime } from '../../../support/fake-world.ts';
import { openTemporarily, recordingLog } from '../../storage/sqlite/temporary.ts';

const { open, cleanUp } = openTemporarily();
afterEach(cleanUp);

const caller: LoginCaller = {
  kind: 'login',
  loginId: 'lgn_1',
  userId: 'usr_1',
  workspaceId: 'ws_1',
  revoked: new AbortController().signal,
};
const minute = 60_000;
const hour = 60 * minute;

/** Alerts over a real store, in a world whose time stands still. */
async function newAlerts({ isHostOwner = true } = {}) {
  const sent: OutgoingRequest[] = [];
  /** Texts are those of answers with status 200. */
  const answers: (number | string | Error)[] = [];
  const world = fakeWorld({
    send: async (request) => {
      sent.push(request);
      const answer = answers.shift() ?? 204;
      if (answer instanceof Error) throw answer;
      const [status, text] = typeof answer === 'string' ? [200, answer] : [answer, ''];
      const bytes = async () => new TextEncoder().encode(text);
      return { status, headers: {}, body: { bytes, cancel() {}, async *[Symbol.asyncIterator]() {} } };
    },
  });
  const storage = await open({ now: () => world.now() });
  await storage.workspaces.createOwner(owner);
  const log = recordingLog();
  const benches: BenchPeriod[] = [];
  const hooks = new Hooks({
    sealer: createDataSealer(new Uint8Array(32), (count) => world.randomBytes(count)),
    addressProblem: (url, { mayBePrivate }) =>
      url.hostname === '10.0.0.1' && !mayBePrivate ? 'is a private address' : undefined,
    world,
  });
  const deliveries = new Deliveries({ store: storage.alerts, hooks, world, log });
  const alerts = new Alerts({
    store: storage.alerts,
    sampler: createSampler({ metering: storage.metering, traces: storage.traces, benches: () => benches }),
    hooks,
    deliveries,
    workspaces: {
      membership: async () => ({ workspaceId: 'ws_1', role: 'owner' }) as never,
      isDaemonOwner: async () => isHostOwner,
    },
    hasKey: async (_workspaceId, keyId) => keyId === 'key_1',
    events: { announce() {} },
    makeId: idMaker(
      () => world.now(),
      (count) => world.randomBytes(count),
    ),
    world,
  });
  const stop = new AbortController();
  const fail = (error: unknown) => log.error({ err: error }, 'failed');
  const jobs = [alerts.keepEvaluating(stop.signal, fail), deliveries.keepSending(stop.signal, fail)];
  onTestFinished(async () => {
    stop.abort();
    await Promise.all(jobs);
    expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
  /** Lets time pass until both jobs have done their work. */
  const tick = async (ms: number): Promise<void> => {
    await world.advance(ms);
    await eventually('the work is done', () => world.sleeping() === 2);
  };
  let calls = 0;
  return {
    alerts,
    answers,
    benches,
    log,
    sent,
    storage,
    world,
    put: (id: string, settings: AlertSettings) => alerts.put(caller, 'me', { id, settings }),
    state: async (id: string) => (await alerts.get(caller, 'me', id)).record.state,
    /** A call that ends now. */
    async call(changes: Parameters<typeof aUsage>[1] = {}) {
      calls += 1;
      const requestId = `req_${calls}`;
      await storage.metering.hold(aHold(requestId));
      const at = { createdAt: world.now(), completedAt: world.now() };
      await storage.metering.settle(aSettlement(requestId, { ...at, ...changes }));
    },
    tick,
    /** Lets time pass, and then long enough for an evaluation. */
    async pass(ms: number) {
      await tick(ms);
      await tick(15_000);
    },
    events: async () =>
      (await storage.events.after(['ws_1'], 0, 1_000)).filter(({ type }) => type.startsWith('alert.')),
  };
}

const spend = { kind: 'spend', window_minutes: 60, threshold: '0.000001' } as const;

test('spending fires once when it reaches the threshold, and resolves when the window has passed', async () => {
  const { put, call, pass, state, events, storage } = await newAlerts();
  await put('dear', spend);
  await call();
  await pass(20_000);
  expect(await state('dear')).toBe('ok');
  await call();
  await pass(20_000);
  expect(await state('dear')).toBe('firing');
  await pass(20_000);
  await pass(20_000);
  expect((await events()).map(({ type, data }) => [type, data.value])).toEqual([
    ['alert.fired', '0.000001572'],
  ]);
  await pass(2 * hour);
  expect(await state('dear')).toBe('ok');
  const [, resolved] = await events();
  expect(resolved).toMatchObject({ type: 'alert.resolved', data: { alert: 'dear', value: '0' } });
  const filter = { workspaceId: 'ws_1', alertId: 'dear', isOpen: false, after: undefined, limit: 5 };
  const [firing] = await storage.alerts.firings(filter);
  expect(firing).toMatchObject({ value: 1572, resolvedValue: 0 });
  expect(firing?.message).toBe('All calls cost $0.000001572 in the last hour. The threshold is $0.000001.');
});

test('filters by key, model and provider count other calls not', async () => {
  const { put, call, state } = await newAlerts();
  await call({ keyId: 'key_2', model: 'b', provider: 'two', charged: 5_000 });
  await call({ keyId: 'key_1', model: 'a', provider: 'one', charged: 100 });
  for (const [id, filter] of Object.entries({
    'key-1': { key: 'key_1' },
    'model-a': { model: 'a' },
    'provider-one': { provider: 'one' },
    'model-a-at-two': { model: 'a', provider: 'two' },
  })) {
    await put(id, { ...spend, ...filter });
    expect([id, await state(id)]).toEqual([id, 'ok']);
  }
  for (const [id, filter] of Object.entries({
    'model-b': { model: 'b' },
    'provider-two': { provider: 'two' },
    'model-b-at-two': { model: 'b', provider: 'two' },
  })) {
    await put(id, { ...spend, ...filter });
    expect([id, await state(id)]).toEqual([id, 'firing']);
  }
});

test('a share of errors needs enough calls to fire, and few keep it firing', async () => {
  const { put, call, pass, state } = await newAlerts();
  await put('failing', { kind: 'error_share', window_minutes: 15, threshold: '50', min_calls: 4 });
  for (let index = 0; index < 3; index += 1) await call({ status: 'failed' });
  await pass(20_000);
  expect(await state('failing')).toBe('ok');
  await call();
  await pass(20_000);
  expect(await state('failing')).toBe('firing');
  await pass(30 * minute);
  expect(await state('failing')).toBe('ok');
});

test('latency, rejections and benches', async () => {
  const { put, call, pass, state, benches, storage, world, events } = await newAlerts();
  await put('slow', { kind: 'p95_total', window_minutes: 60, threshold: '8000', min_calls: 3 });
  await put('first', { kind: 'p95_first_token', window_minutes: 60, threshold: '8000', min_calls: 3 });
  await put('rejected', { kind: 'rejections', window_minutes: 15, threshold: '5', key: 'key_1' });
  await put('benched', { kind: 'benched', window_minutes: 15, provider: 'azure' });
  for (let index = 0; index < 3; index += 1) await call({ totalMs: 9_000, ttftMs: 100 });
  const rejection = {
    requestId: 'req_rejected',
    workspaceId: 'ws_1',
    keyId: 'key_1',
    address: null,
    endpoint: '/v1/responses',
    model: null,
    streamed: false,
    httpStatus: 403,
    errorCode: 'limit_reached',
    param: null,
    message: 'No.',
    totalMs: 1,
    createdAt: world.now(),
    completedAt: world.now(),
    labels: aUsage('req').labels,
    more: 4,
  };
  const event = { type: 'request.rejected', workspaceId: 'ws_1', at: world.now(), data: {} };
  await storage.traces.recordRejection(rejection, event, 10);
  const period = {
    account: 'azure',
    reason: 'failing',
    since: world.now(),
    until: world.now() + 15_000,
  } as const;
  benches.push({ ...period, provider: 'azure', providerModel: 'gpt-5', model: 'openai/gpt-5' });
  benches.push({ ...period, provider: 'openai', providerModel: undefined, model: undefined });
  await pass(20_000);
  const states = Object.fromEntries(
    await Promise.all(['slow', 'first', 'rejected', 'benched'].map(async (id) => [id, await state(id)])),
  );
  expect(states).toEqual({ slow: 'firing', first: 'ok', rejected: 'firing', benched: 'firing' });
  const messages = (await events()).map(({ data }) => data.message);
  expect(messages.toSorted()).toEqual([
    '5 of the calls with key_1 were rejected in the last 15 minutes. The threshold is 5.',
    'Benched in the last 15 minutes: azure (gpt-5).',
    expect.stringMatching(
      /^The slowest 5 % of all calls took \d.* s or longer in the last hour\. The threshold is 8 s\.$/,
    ),
  ]);
  await pass(40 * minute);
  expect([await state('rejected'), await state('benched')]).toEqual(['ok', 'ok']);
});

test('silence fires after a whole window without calls, and ends with the next call', async () => {
  const { put, call, pass, state, events } = await newAlerts();
  await put('quiet', { kind: 'silence', window_minutes: 30, model: 'openai/gpt-5' });
  await pass(20 * minute);
  expect(await state('quiet')).toBe('ok');
  await call();
  await pass(20 * minute);
  expect(await state('quiet')).toBe('ok');
  await call({ model: 'another' });
  await pass(30 * minute);
  expect(await state('quiet')).toBe('firing');
  await call();
  await pass(minute);
  expect(await state('quiet')).toBe('ok');
  expect((await events()).map(({ data }) => data.message)).toEqual([
    'There were no calls of openai/gpt-5 in the last 30 minutes.',
    'There are calls of openai/gpt-5 again.',
  ]);
});

test('a changed condition decides for an alert that fires, and a removed one resolves', async () => {
  const { alerts, put, call, state, events } = await newAlerts();
  await call();
  await put('dear', { ...spend, threshold: '0.0000001' });
  expect(await state('dear')).toBe('firing');
  await put('dear', { ...spend, threshold: '0.0000002' });
  expect(await state('dear')).toBe('firing');
  await put('dear', { ...spend, threshold: '5' });
  expect(await state('dear')).toBe('ok');
  await put('dear', { ...spend, threshold: '0.0000001' });
  await alerts.remove(caller, 'me', 'dear');
  expect((await events()).map(({ type }) => type)).toEqual([
    'alert.fired',
    'alert.resolved',
    'alert.fired',
    'alert.resolved',
  ]);
});

const url = 'https://hooks.example.com/in?key=1';

test('a message is signed, and sent again until an answer is final', async () => {
  const { put, call, pass, tick, sent, answers, storage, log } = await newAlerts();
  const seconds = async (count: number) => {
    for (let passed = 0; passed < count; passed += 1) await tick(1_000);
  };
  const { secret } = await put('dear', { ...spend, threshold: '0.0000001', webhook_url: url });
  await call();
  answers.push(500, new Error('broken'), 404);
  await pass(0);
  await seconds(2);
  expect(sent).toHaveLength(1);
  await seconds(3);
  expect(sent).toHaveLength(1);
  await seconds(4);
  expect(sent).toHaveLength(2);
  await seconds(50);
  expect(sent).toHaveLength(2);
  await seconds(20);
  expect(sent).toHaveLength(3);
  await pass(minute / 2);
  await seconds(10);
  expect(sent).toHaveLength(3);
  const [last] = await storage.alerts.lastDeliveries('ws_1');
  const failure = 'The receiver answered with HTTP 404.';
  expect(last).toMatchObject({ state: 'failed', attempts: 3, httpStatus: 404, failure, nextAt: null });
  expect(log.lines.map(({ details }) => details)).toEqual([
    { alert: 'dear', type: 'alert.fired', delivery: last?.id, failure },
  ]);
  expect(new Set(sent.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([last?.id]));
  for (const { headers, body, method, publicOnly } of sent) {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret?.replace('whsec_', '') ?? '', 'base64');
    const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    expect([method, headers['webhook-signature'], publicOnly]).toEqual(['POST', signature, false]);
    expect(JSON.parse(String(body))).toMatchObject({
      type: 'alert.fired',
      data: { alert: 'dear', kind: 'spend' },
    });
  }
  const times = sent.map(({ headers }) => Number(headers['webhook-timestamp']) * 1000 - startOfFakeTime);
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
  expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(60_000);
});

/** Reports: formbricks/formbricks#6931, cloudflare/templates#956, grafana/grafana#16826, prometheus/alertmanager#2932. */
test.each<[string, object]>([
  ['https://hooks.slack.com/services/T0/B0/x', { text: expect.stringContaining('Alert dear: ') }],
  [
    'https://chat.googleapis.com/v1/spaces/x/messages?key=1',
    { text: expect.stringContaining('Alert dear: ') },
  ],
  [
    'https://discord.com/api/webhooks/1/x',
    { content: expect.stringContaining('Alert dear: '), allowed_mentions: { parse: [] } },
  ],
  [
    'https://x.webhook.office.com/webhookb2/1',
    {
      type: 'message',
      attachments: [
        { content: { type: 'AdaptiveCard', body: [{ text: expect.stringContaining('Alert dear: ') }] } },
      ],
    },
  ],
  // operacle/checkcle#171, rcourtman/Pulse#1084
  [
    'https://chat.example.com/team/hooks/abcdefghijklm0123456789nop',
    { text: expect.stringContaining('Alert dear: ') },
  ],
  ['https://hooks.example.com/discord.com', { type: 'alert.fired', data: { alert: 'dear' } }],
])('a message to %s has the form that it takes', async (address, form) => {
  const { put, call, pass, sent } = await newAlerts();
  await put('dear', { ...spend, threshold: '0.0000001', webhook_url: address });
  await call();
  await pass(minute);
  expect(sent).toHaveLength(1);
  expect(JSON.parse(String(sent[0]?.body))).toMatchObject(form);
});

test('the form of messages is chosen, stays with the address, and is forgotten with it', async () => {
  const { put, alerts, sent } = await newAlerts();
  const format = async () => (await alerts.get(caller, 'me', 'dear')).record.hook?.format;
  await put('dear', { ...spend, webhook_url: url, webhook_format: 'ntfy' });
  await put('dear', { ...spend, threshold: '7' });
  await put('dear', { ...spend, new_secret: true });
  expect(await format()).toBe('ntfy');
  await alerts.test(caller, 'me', 'dear');
  expect(sent[0]).toMatchObject({
    body: 'A test of the alert dear. This is a test of the web hook.',
    headers: { 'content-type': 'text/plain; charset=utf-8', title: 'A test of the alert dear' },
  });
  await put('dear', { ...spend, webhook_format: 'gotify' });
  expect(await format()).toBe('gotify');
  await put('dear', { ...spend, webhook_format: null });
  expect(await format()).toBeUndefined();
  await put('dear', { ...spend, webhook_format: 'slack' });
  await put('dear', { ...spend, webhook_url: 'https://ntfy.sh/topic' });
  expect(await format()).toBeUndefined();
  await put('dear', { ...spend, webhook_url: null });
  const error = await put('dear', { ...spend, webhook_format: 'slack' }).catch((each: unknown) => each);
  expect(error).toMatchObject({ code: 'invalid_request', param: 'webhook_format' });
});

test('a message that is refused with status 200 is not delivered, and is sent again', async () => {
  const { put, alerts, answers, tick, storage } = await newAlerts();
  await put('dear', { ...spend, webhook_url: 'https://open.feishu.cn/open-apis/bot/v2/hook/x' });
  answers.push('{"code":11232,"msg":"frequency limited"}', '{"code":0,"msg":"success"}');
  expect(await alerts.test(caller, 'me', 'dear')).toMatchObject({
    state: 'pending',
    httpStatus: 200,
    failure: 'The receiver refused the message with code 11232: frequency limited',
  });
  await tick(6_000);
  expect(await storage.alerts.lastDeliveries('ws_1')).toMatchObject([{ state: 'delivered', failure: null }]);
});

test('a chat is told once that an alert has resolved', async () => {
  const { put, call, pass, sent } = await newAlerts();
  await put('dear', {
    ...spend,
    threshold: '0.0000001',
    webhook_url: 'https://hooks.slack.com/services/T0/B0/x',
  });
  await call();
  await pass(minute);
  await put('dear', { ...spend, threshold: '1000' });
  await pass(minute);
  const { text } = JSON.parse(String(sent.at(-1)?.body)) as { text: string };
  expect(text.split('Resolved')).toHaveLength(2);
});

/** Reports: MrZoller/vantage-point#49, Cyrax321/SNAGLINE#389, utksh1/SecuScan#1740, oryx-labs/oryxos#302. */
test.each([
  [301, 1],
  [302, 2],
  [308, 1],
])('a redirect with %d is no delivery, is not followed, and is named', async (status, attempts) => {
  const { put, call, pass, tick, sent, answers, storage } = await newAlerts();
  await put('dear', { ...spend, threshold: '0.0000001', webhook_url: url });
  answers.push(...Array.from({ length: 5 }, () => status));
  await call();
  await pass(0);
  for (let passed = 0; passed < 6; passed += 1) await tick(1_000);
  expect(sent.map((each) => each.url)).toEqual(Array.from({ length: attempts }, () => url));
  const failure = expect.stringContaining('set the address that it redirects to');
  expect(await storage.alerts.lastDeliveries('ws_1')).toMatchObject([{ httpStatus: status, failure }]);
});

/** Reports: polarsource/polar#9525, frain-dev/convoy#1525. */
test('a message that waits gives way to a newer state of its alert', async () => {
  const { put, call, pass, tick, sent, answers, storage } = await newAlerts();
  await put('dear', { ...spend, threshold: '0.0000001', webhook_url: url });
  answers.push(...Array.from({ length: 5 }, () => 503));
  await call();
  await pass(0);
  await tick(2_000);
  answers.length = 0;
  const failed = sent.length;
  expect(failed).toBeGreaterThan(0);
  await put('dear', { ...spend, threshold: '1000' });
  await pass(5 * minute);
  await pass(20 * minute);
  const types = sent.map(({ body }) => (JSON.parse(String(body)) as { type: string }).type);
  expect(types.slice(failed)).toEqual(['alert.resolved']);
  const last = { type: 'alert.resolved', state: 'delivered' };
  expect(await storage.alerts.lastDeliveries('ws_1')).toMatchObject([last]);
});

/** Reports: rcourtman/Pulse#1721, prometheus/alertmanager#3359. */
test('a receiver that is away for hours gets its message', async () => {
  const { put, alerts, tick, sent, answers, storage } = await newAlerts();
  await put('dear', { ...spend, webhook_url: url });
  answers.push(503, 503, 503, 503);
  await alerts.test(caller, 'me', 'dear');
  for (const seconds of [6, 62, 602, 1_800]) await tick(seconds * 1_000);
  expect(sent).toHaveLength(4);
  const [waiting] = await storage.alerts.lastDeliveries('ws_1');
  expect(waiting).toMatchObject({ state: 'pending', attempts: 4 });
  await tick(hour);
  await tick(1_000);
  expect(await storage.alerts.delivery(waiting?.id ?? '')).toMatchObject({ state: 'delivered', attempts: 5 });
});

test('neither the address nor the secret is stored in clear, and both stay over other changes', async () => {
  const { put, alerts, storage, sent } = await newAlerts();
  const { secret, record } = await put('dear', { ...spend, webhook_url: url });
  expect(record.hook).toMatchObject({ origin: 'https://hooks.example.com', mayBePrivate: true });
  expect(JSON.stringify(record)).not.toMatch(/key=1|whsec/);
  expect((await put('dear', { ...spend, threshold: '7' })).secret).toBeNull();
  await alerts.test(caller, 'me', 'dear');
  expect(sent.map((request) => request.url)).toEqual([url]);
  const changed = await put('dear', { ...spend, new_secret: true });
  expect(changed.secret).toMatch(/^whsec_[\w+/=]{44}$/);
  expect(changed.secret).not.toBe(secret);
  await put('dear', { ...spend, webhook_url: null });
  expect((await storage.alerts.byId('ws_1', 'dear'))?.hook).toBeNull();
  await expect(alerts.test(caller, 'me', 'dear')).rejects.toMatchObject({ code: 'invalid_request' });
});

test('who does not own the host sends messages to public https addresses only', async () => {
  const { put, alerts, sent } = await newAlerts({ isHostOwner: false });
  for (const bad of [
    'http://hooks.example.com',
    'https://10.0.0.1/in',
    'https://user@hooks.example.com',
    'ftp://hooks.example.com',
    'hooks.example.com',
  ]) {
    const saved = put('dear', { ...spend, webhook_url: bad });
    await expect(saved, bad).rejects.toMatchObject({ code: 'invalid_request', param: 'webhook_url' });
  }
  await put('dear', { ...spend, webhook_url: url });
  await alerts.test(caller, 'me', 'dear');
  expect(sent[0]?.publicOnly).toBe(true);
});

test('messages that are pending are sent after a restart, and what was sent is not', async () => {
  const { storage, put, pass, sent, alerts, answers } = await newAlerts();
  await put('dear', { ...spend, webhook_url: url });
  await alerts.test(caller, 'me', 'dear');
  expect(sent).toHaveLength(1);
  answers.push(503);
  await alerts.test(caller, 'me', 'dear');
  const [interrupted] = await storage.alerts.lastDeliveries('ws_1');
  await storage.alerts.claimDelivery({ id: interrupted?.id ?? '', attempts: 1 }, startOfFakeTime + hour);
  await pass(minute);
  expect(sent).toHaveLength(2);
  await storage.alerts.adoptDeliveries(storage.daemons.own, startOfFakeTime);
  await pass(2_000);
  expect(sent).toHaveLength(3);
  expect(await storage.alerts.delivery(interrupted?.id ?? '')).toMatchObject({
    state: 'delivered',
    attempts: 3,
  });
});

test('a preview says on which days an alert would have fired', async () => {
  const { alerts, call, world } = await newAlerts();
  const day = 24 * hour;
  const at = (time: number) => ({ createdAt: time, completedAt: time });
  await call(at(startOfFakeTime - 3 * day));
  await call({ ...at(startOfFakeTime - day), charged: 2_000 });
  await call({ ...at(startOfFakeTime - day + 5 * hour), charged: 3_000 });
  const { days } = await alerts.preview(caller, 'me', { ...spend, threshold: '0.0000015' });
  expect(days).toHaveLength(7);
  expect(days.filter(({ firings }) => firings > 0)).toEqual([
    { day: '2026-11-20', firings: 2, first_at: '2026-11-20T08:15:00.000Z', peak: '0.000003' },
  ]);
  expect(days[3]).toMatchObject({ day: '2026-11-18', firings: 0, peak: '0.000000786' });
  expect(days.at(-1)?.day).toBe(new Date(world.now()).toISOString().slice(0, 10));
});
