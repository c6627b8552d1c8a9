import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { readLedger } from '../support/ledger.ts';
import { paidUsage } from '../support/paid-daemon.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type Answer, askDaemon } from '../support/users.ts';

let fakes: { one: FakeOpenAi; two: FakeOpenAi };
let daemon: RunningDaemon;

beforeAll(async () => {
  fakes = { one: await startFakeOpenAi(), two: await startFakeOpenAi() };
  const prices = 'prices: { input: "1", output: "2" }';
  daemon = await startDaemon({
    config: `
upstreams:
  - { name: one, base_url: ${fakes.one.baseUrl}, models: [small, large], ${prices} }
  - { name: two, base_url: ${fakes.two.baseUrl}, models: [small], ${prices} }
  - { name: priceless, base_url: ${fakes.two.baseUrl}, models: [unknown] }
aliases:
  cheap: one/small
  either: [one/small, two/small]
`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([fakes.one.close(), fakes.two.close()]);
});

beforeEach(() => {
  for (const fake of Object.values(fakes)) {
    fake.forget();
    fake.always({ text: 'Some words.', usage: paidUsage });
  }
});

const own = '/v1/workspaces/me/budgets';
const asOwner = (method: string, path: string, json?: unknown) =>
  askDaemon(daemon, method, path, { as: daemon.login, json });
const outcome = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];

async function put(id: string, json: object): Promise<Answer['body']> {
  const { status, body } = await asOwner('PUT', `${own}/${id}`, { period: 'day', ...json });
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}

const budget = async (id: string): Promise<Answer['body']> => (await asOwner('GET', `${own}/${id}`)).body;
const remove = (id: string) => asOwner('DELETE', `${own}/${id}`);

function ask(body: object = {}, as = daemon.key) {
  const json = { model: 'one/small', input: 'Hello.', max_output_tokens: 100, store: false, ...body };
  return askDaemon(daemon, 'POST', '/v1/responses', { as, json });
}

const withFallback = { service: { fallbacks: ['two/small'] } };

test('budgets of a provider and of a model are never exceeded by 400 calls at once that may have either', async () => {
  await put('one', { usd: '0.003', scope: 'provider', value: 'one', hard: true });
  await put('two', { usd: '0.004', scope: 'model', value: 'two/small', hard: true });
  const answers = await Promise.all(Array.from({ length: 400 }, () => ask(withFallback)));
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused)
    expect(outcome(answer)).toEqual([403, 'limit_reached', expect.stringMatching(/^budgets\.(one|two)$/)]);
  const [one, two] = [await budget('one'), await budget('two')];
  const spentBy = (provider: string) =>
    answers
      .filter(({ body }) => body.service?.provider === provider)
      .reduce((sum, { body }) => sum + Number(body.service.charged_usd), 0)
      .toFixed(9);
  for (const [provider, { usd, spent_usd: spent, held_usd: held }] of [
    ['one', one],
    ['two', two],
  ] as const) {
    expect(Number(spent)).toBeLessThanOrEqual(Number(usd));
    // The rest pays for no call.
    expect(Number(spent)).toBeGreaterThan(Number(usd) - 0.0005);
    expect([Number(spent).toFixed(9), held]).toEqual([spentBy(provider), '0']);
  }
  expect(readLedger(daemon.home)).toMatchObject({ faults: [], holds: [] });
  // One provider is enough for a call that has no other.
  await put('one', { usd: '5', scope: 'provider', value: 'one', hard: true });
  expect((await ask()).body.service.provider).toBe('one');
  expect((await ask({ ...withFallback, model: 'two/small' })).status).toBe(403);
  await Promise.all(['one', 'two'].map(remove));
});

test('a call whose provider fails is charged to the budget of the one that answers', async () => {
  await put('first', { usd: '5', scope: 'provider', value: 'one', hard: true, period: 'none' });
  await put('second', { usd: '5', scope: 'provider', value: 'two', hard: true, period: 'none' });
  const before = [Number((await budget('first')).spent_usd), Number((await budget('second')).spent_usd)];
  fakes.one.always({ error: { status: 503, message: 'Overloaded.' } });
  const { status, body } = await ask(withFallback);
  expect([status, body.service?.provider]).toEqual([200, 'two']);
  const [first, second] = [await budget('first'), await budget('second')];
  expect(Number(first.spent_usd)).toBe(before[0]);
  expect(Number(second.spent_usd)).toBeCloseTo((before[1] ?? 0) + 0.00022, 9);
  expect([first.held_usd, second.held_usd]).toEqual(['0', '0']);
  await Promise.all(['first', 'second'].map(remove));
});

test('a hard budget of a provider keeps calls of unknown price from it, and no others', async () => {
  await put('priceless', { usd: '5', scope: 'provider', value: 'priceless', hard: true });
  expect(outcome(await ask({ model: 'priceless/unknown' }))).toEqual([503, 'no_route', null]);
  expect((await ask({ model: 'one/small', models: ['one/large'] })).status).toBe(200);
  await put('one', { usd: '5', scope: 'model', value: 'one/small', hard: true });
  expect(outcome(await ask({ models: ['one/large'] }))).toEqual([400, 'invalid_request', 'models']);
  expect((await ask({ model: 'one/large', models: ['one/small'] })).status).toBe(200);
  await Promise.all(['priceless', 'one'].map(remove));
});

test('a soft budget of a model reports what it spends, also since before it was set', async () => {
  await ask({ model: 'one/large' });
  const set = await put('large', { usd: '0.0005', scope: 'model', value: 'one/large', thresholds: [80] });
  expect(Number(set.spent_usd)).toBeGreaterThanOrEqual(0.00022);
  const { spent_usd: before } = set;
  await ask({ model: 'one/large' });
  await ask({ model: 'one/large' });
  const { spent_usd: after, fired } = await budget('large');
  expect(Number(after)).toBeCloseTo(Number(before) + 0.00044, 9);
  expect(fired).toMatchObject([{ percent: 80 }]);
  await remove('large');
});

test('a budget with a filter counts the calls that match, and names what is not known of them', async () => {
  const key = (await asOwner('POST', '/v1/workspaces/me/keys', { name: 'filtered' })).body;
  const value = `model:one/*  key:${key.key.id} endpoint:responses`;
  const set = await put('filter', { usd: '0.00025', scope: 'where', value, hard: true });
  expect(set.value).toBe(`model:one/* key:${key.key.id} endpoint:/v1/responses`);
  expect((await ask({}, key.secret)).status).toBe(200);
  const refused = await ask({}, key.secret);
  expect(outcome(refused)).toEqual([403, 'limit_reached', 'budgets.filter']);
  expect((await ask(withFallback, key.secret)).body.service.provider).toBe('two');
  expect((await ask({})).status).toBe(200);
  expect(await budget('filter')).toMatchObject({ spent_usd: '0.00022', held_usd: '0' });
  const bad = await asOwner('PUT', `${own}/bad`, {
    usd: '5',
    period: 'day',
    scope: 'where',
    value: 'model:one/* status:failed >4s',
  });
  expect(bad.body.error.message).toContain('status, the duration are not known when a call is admitted');
  await remove('filter');
});

test('an alias of one model stands for it', async () => {
  expect(await put('cheap', { usd: '5', scope: 'model', value: 'cheap' })).toMatchObject({
    scope: 'model',
    value: 'one/small',
  });
  await remove('cheap');
});

test.each([
  [{ scope: 'model', value: 'either' }, 'value'],
  [{ scope: 'model', value: 'one/unlisted' }, 'value'],
  [{ scope: 'provider', value: 'three' }, 'value'],
  [{ scope: 'provider' }, 'value'],
  [{ scope: 'where', value: 'status:failed' }, 'value'],
  [{ scope: 'where', value: 'model:one/* >4s' }, 'value'],
  [{ scope: 'where', value: 'model:' }, 'value'],
  [{ scope: 'where', value: 'key:someone' }, 'value'],
  [{ scope: 'where', value: 'model:one/*', period: 'none' }, 'period'],
  [{ scope: 'user', value: 'u'.repeat(129) }, 'value'],
  [{ time_zone: 'Europe/Atlantis' }, 'time_zone'],
  [{ time_zone: '+02:07' }, 'time_zone'],
  [{ day_starts: '6:00' }, 'day_starts'],
  [{ day_starts: '06:10' }, 'day_starts'],
  [{ week_starts: 'someday' }, 'week_starts'],
])('a budget with %j is rejected', async (members, param) => {
  const answer = await asOwner('PUT', `${own}/odd`, { usd: '5', period: 'day', ...members });
  expect(outcome(answer)).toEqual([400, 'invalid_request', param]);
});

test('budgets and caps of keys reset by their calendar', async () => {
  const calendar = { time_zone: 'Europe/Berlin', day_starts: '06:00', week_starts: 'sunday' };
  const set = await put('berlin', { usd: '5', period: 'week', ...calendar });
  expect(set).toMatchObject(calendar);
  const clockOf = (time: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      weekday: 'long',
      timeStyle: undefined,
      hour: '2-digit',
      minute: '2-digit',
    }).format(Date.parse(time));
  expect([clockOf(set.period_start), clockOf(set.resets_at)]).toEqual(['Sunday 06:00', 'Sunday 06:00']);
  const { body: issued } = await asOwner('POST', '/v1/workspaces/me/keys', {
    name: 'weekly',
    limits: { spend_cap: { usd: '0.00025', period: 'week', ...calendar } },
  });
  const key = `/v1/workspaces/me/keys/${issued.key.id}`;
  expect(issued.key.limits.spend_cap).toEqual({ usd: '0.00025', period: 'week', ...calendar });
  expect((await ask({}, issued.secret)).status).toBe(200);
  const refused = await ask({}, issued.secret);
  expect(outcome(refused)).toEqual([403, 'limit_reached', 'limits.spend_cap']);
  const { used } = (await asOwner('GET', key)).body;
  expect(used.spend_cap).toEqual({
    spent_usd: '0.00022',
    period_start: set.period_start,
    resets_at: refused.body.error.resets_at,
  });
  const spent = (await budget('berlin')).spent_usd;
  daemon.advance(Date.parse(set.resets_at) - Date.parse(set.period_start));
  expect((await asOwner('GET', key)).body.used.spend_cap.spent_usd).toBe('0');
  expect((await ask({}, issued.secret)).status).toBe(200);
  expect([Number(spent) > 0.00022, (await budget('berlin')).spent_usd]).toEqual([true, '0.00022']);
  const bad = await asOwner('PUT', `${key}/limits`, {
    spend_cap: { usd: '5', period: 'day', time_zone: 'Mars' },
  });
  expect(outcome(bad)).toEqual([400, 'invalid_request', 'spend_cap.time_zone']);
});
