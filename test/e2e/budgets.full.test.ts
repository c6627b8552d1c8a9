import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import type { FakeOpenAi } from '../support/fake-openai.ts';
import { readLedger } from '../support/ledger.ts';
import { paidConfig, paidDaemon, paidUsd } from '../support/paid-daemon.ts';
import type { RunningDaemon } from '../support/start-daemon.ts';
import { type Answer, type AskOptions, addMember, addPerson, askDaemon } from '../support/users.ts';

const paid = paidDaemon();
let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(() => {
  ({ fake, daemon } = paid());
});

type Daemon = Pick<RunningDaemon, 'url' | 'login' | 'key'>;

const own = '/v1/workspaces/me/budgets';
const asOwner = (method: string, path: string, json?: unknown, target: Daemon = daemon) =>
  askDaemon(target, method, path, { as: target.login, json });
const outcome = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];

async function put(id: string, json: object, target: Daemon = daemon): Promise<Answer['body']> {
  const { status, body } = await asOwner('PUT', `${own}/${id}`, json, target);
  expect([status, body.error]).toEqual([200, undefined]);
  return body;
}

async function budget(id: string, target: Daemon = daemon): Promise<Answer['body']> {
  return (await asOwner('GET', `${own}/${id}`, undefined, target)).body;
}

/** A call for a user that no other test names. */
function ask(user: string, body: object = {}, options: AskOptions = {}, target: Daemon = daemon) {
  const json = { model: 'paid/small', input: 'Hello.', max_output_tokens: 100, store: false, ...body };
  const headers = { 'x-service-user': user, ...options.headers };
  return askDaemon(target, 'POST', '/v1/responses', { as: target.key, json, ...options, headers });
}

const ofUser = (value: string, usd: string, more: object = {}) => ({
  usd,
  period: 'day',
  scope: 'user',
  value,
  hard: true,
  ...more,
});

/** The stored events of budgets. */
async function eventsOf(id: string, target: Daemon = daemon) {
  const abort = new AbortController();
  const types = 'budget.threshold,budget.refused,key.issued';
  const answer = await fetch(`${target.url}/v1/events?after=0&type=${types}`, {
    headers: { authorization: `Bearer ${target.login}` },
    signal: abort.signal,
  });
  // The event of this key is stored after all others.
  const { body } = await asOwner('POST', '/v1/workspaces/me/keys', { name: 'last' }, target);
  let text = '';
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!text.includes(body.key.id)) text += (await reader?.read())?.value ?? '';
  abort.abort();
  return [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(([, json]) => JSON.parse(json ?? ''))
    .filter(({ type, data }) => type.startsWith('budget.') && data.budget === id);
}

describe('budgets', () => {
  test('are set, shown, listed, replaced and deleted', async () => {
    const made = await put('team-1', { usd: '5', period: 'week' });
    expect(made).toMatchObject({
      id: 'team-1',
      object: 'budget',
      scope: 'workspace',
      value: null,
      usd: '5',
      period: 'week',
      hard: false,
      thresholds: [50, 80, 100],
      held_usd: '0',
      refused_at: null,
    });
    const [start, end] = [Date.parse(made.period_start), Date.parse(made.resets_at)];
    expect([new Date(start).getUTCDay(), end - start]).toEqual([1, 7 * 86_400_000]);
    const changed = await put('team-1', { ...ofUser('名前 🦉', '0.25'), period: 'none', thresholds: [] });
    expect(changed).toMatchObject({
      scope: 'user',
      value: '名前 🦉',
      usd: '0.25',
      hard: true,
      thresholds: [],
      spent_usd: '0',
      remaining_usd: '0.25',
      forecast_usd: null,
      period_start: null,
      resets_at: null,
      created_at: made.created_at,
    });
    expect(await budget('team-1')).toEqual(changed);
    const { body } = await asOwner('GET', own);
    expect(body.data).toEqual([changed]);
    expect((await asOwner('DELETE', `${own}/team-1`)).body).toEqual({
      id: 'team-1',
      object: 'budget',
      deleted: true,
    });
    expect(outcome(await asOwner('GET', `${own}/team-1`))).toEqual([404, 'not_found', null]);
    expect(outcome(await asOwner('DELETE', `${own}/team-1`))).toEqual([404, 'not_found', null]);
  });

  test.each([
    [{ usd: '5' }, 'period'],
    [{ period: 'day' }, 'usd'],
    [{ usd: '-1', period: 'day' }, 'usd'],
    [{ usd: '9000000.000000001', period: 'day' }, 'usd'],
    [{ usd: '1e3', period: 'day' }, 'usd'],
    [{ usd: '5', period: 'year' }, 'period'],
    [{ usd: '5', period: 'day', scope: 'client', value: 'curl' }, 'scope'],
    [{ usd: '5', period: 'day', scope: 'tag', value: 'team' }, 'value'],
    [{ usd: '5', period: 'day', scope: 'tag', value: 'team=a,b' }, 'value'],
    [{ usd: '5', period: 'day', scope: 'tag', value: `team=${'a'.repeat(65)}` }, 'value'],
    [{ usd: '5', period: 'day', scope: 'user' }, 'value'],
    [{ usd: '5', period: 'day', scope: 'user', value: 'a'.repeat(129) }, 'value'],
    [{ usd: '5', period: 'day', scope: 'user', value: 'a\nb' }, 'value'],
    [{ usd: '5', period: 'day', scope: 'user', value: '\ud800' }, 'value'],
    [{ usd: '5', period: 'day', scope: 'key', value: 'key_none' }, 'value'],
    [{ usd: '5', period: 'day', value: 'me' }, 'value'],
    [{ usd: '5', period: 'day', thresholds: [0] }, 'thresholds[0]'],
    [{ usd: '5', period: 'day', thresholds: [1001] }, 'thresholds[0]'],
    [{ usd: '5', period: 'day', thresholds: [50.5] }, 'thresholds[0]'],
    [{ usd: '5', period: 'day', thresholds: [50, 50] }, 'thresholds'],
    [{ usd: '5', period: 'day', thresholds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, 'thresholds'],
    [{ usd: '5', period: 'day', limit: 1 }, 'limit'],
  ])('reject %j', async (body, param) => {
    expect(outcome(await asOwner('PUT', `${own}/odd`, body))).toEqual([400, 'invalid_request', param]);
  });

  test.each(['Team', 'a b', '-a', 'a'.repeat(65), 'ä'])('cannot have the name %j', async (name) => {
    const put = await asOwner('PUT', `${own}/${encodeURIComponent(name)}`, { usd: '5', period: 'day' });
    expect(outcome(put)).toEqual([404, 'not_found', null]);
  });

  test('are changed by owners and admins only, and read by members', async () => {
    await put('theirs', { usd: '5', period: 'day' });
    const { id } = (await asOwner('GET', '/v1/workspaces')).body.data[0];
    const [admin, member] = [
      await addPerson(daemon, 'budget-admin'),
      await addPerson(daemon, 'budget-member'),
    ];
    await addMember(daemon, id, admin, 'admin');
    await addMember(daemon, id, member, 'member');
    const path = `/v1/workspaces/${id}/budgets/theirs`;
    const json = { usd: '6', period: 'day' };
    expect((await askDaemon(daemon, 'PUT', path, { as: admin.login, json })).body.usd).toBe('6');
    expect((await askDaemon(daemon, 'GET', path, { as: member.login })).body.usd).toBe('6');
    expect(outcome(await askDaemon(daemon, 'PUT', path, { as: member.login, json }))).toEqual([
      403,
      'permission',
      null,
    ]);
    // A workspace of their own has its own budgets.
    expect(outcome(await askDaemon(daemon, 'GET', `${own}/theirs`, { as: member.login }))[0]).toBe(404);
    await asOwner('DELETE', `${own}/theirs`);
  });

  test('have a maximum number', async () => {
    const person = await addPerson(daemon, 'many-budgets');
    const set = (number: number) =>
      askDaemon(daemon, 'PUT', `${own}/budget-${number}`, {
        as: person.login,
        json: { usd: '5', period: 'none', scope: 'user', value: `user ${number}` },
      });
    const answers: Answer[] = [];
    for (let from = 0; from < 520; from += 40)
      answers.push(...(await Promise.all(Array.from({ length: 40 }, (_, index) => set(from + index)))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(500);
    expect(
      new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error.code)),
    ).toEqual(new Set(['invalid_request']));
    expect((await set(0)).status).toBe(200);
    const { body } = await askDaemon(daemon, 'GET', own, { as: person.login });
    expect(body.data).toHaveLength(500);
  });
});

describe('a hard budget', () => {
  test('holds for 400 simultaneous calls', async () => {
    await put('crowd', ofUser('crowd', '0.005'));
    const answers = await Promise.all(Array.from({ length: 400 }, () => ask('crowd')));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(new Set(refused.map((answer) => outcome(answer).join(' ')))).toEqual(
      new Set(['403 limit_reached budgets.crowd']),
    );
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(15);
    const { spent_usd: spent, held_usd: held } = await budget('crowd');
    expect([Number(spent) <= 0.005, Number(spent) > 0.004, held]).toEqual([true, true, '0']);
    await eventually('the refusal', async () => (await budget('crowd')).refused_at !== null);
    expect(readLedger(daemon.home)).toMatchObject({ faults: [], holds: [] });
    expect((await asOwner('GET', '/v1/admin/ledger')).body.error?.code).not.toBe('server_error');
  });

  test.each([
    ['/v1/responses', { input: 'Hello.', store: false }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello.' }] }],
    ['/v1/messages', { messages: [{ role: 'user', content: 'Hello.' }], max_tokens: 100 }],
    ['/v1/embeddings', { input: 'Hello.' }],
  ])('refuses a call to %s with its name, the amount and the remedy', async (path, body) => {
    await put('none-left', ofUser('none-left', '0', { period: 'month' }));
    for (const stream of path === '/v1/embeddings' ? [false] : [false, true]) {
      const answer = await fetch(daemon.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${daemon.key}`,
          'content-type': 'application/json',
          'x-service-user': 'none-left',
        },
        body: JSON.stringify({ model: 'paid/small', ...body, ...(stream && { stream }) }),
      });
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([403, 'false']);
      const { error } = (await answer.json()) as { error: { message: string; param?: string } };
      expect(error.message).toMatch(
        /^The budget "none-left" of the user none-left allows \$0 per month: \$0 is spent, and this call could cost more than the rest\. It resets at \d{4}-\d\d-01T00:00:00\.000Z; an owner or admin of the workspace can raise it\.$/,
      );
      if (path !== '/v1/messages')
        expect(error).toMatchObject({ param: 'budgets.none-left', budget: 'none-left' });
    }
    expect(fake.requests).toEqual([]);
  });

  test('counts background responses, threads and free calls like others', async () => {
    await put('background', ofUser('background', '0'));
    const { body } = await ask('background', { background: true, store: true });
    const get = async () =>
      (await askDaemon(daemon, 'GET', `/v1/responses/${body.id}`, { as: daemon.key })).body;
    if (body.error === undefined || body.error === null) {
      await eventually('a failed response', async () => (await get()).status === 'failed');
    }
    // What costs nothing may go on.
    expect((await ask('background', { model: 'sim/echo' })).status).toBe(200);
    expect(fake.requests).toEqual([]);
  });

  test('shortens an answer to what is left', async () => {
    await put('short', ofUser('short', '0.0002'));
    fake.always({ text: 'word '.repeat(5_000), usage: { input: 20, output: 5_000 } });
    const { body } = await ask('short', { max_output_tokens: 10_000 });
    expect(body.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    expect(Number((await budget('short')).spent_usd)).toBeLessThanOrEqual(0.0002);
  });

  test('rejects what cannot be bounded: models without a price, and members that select other hosts', async () => {
    await put('bounds', ofUser('bounds', '1'));
    expect(outcome(await ask('bounds', { model: 'priceless/unknown' }))).toEqual([503, 'no_route', null]);
    expect(outcome(await ask('bounds', { provider: { order: ['x'] } }))).toEqual([
      400,
      'invalid_request',
      'provider',
    ]);
    const tier = await ask('bounds', { service_tier: 'priority' });
    expect([...outcome(tier), tier.body.error.message]).toEqual([
      400,
      'invalid_request',
      'service_tier',
      'Only standard service tiers are allowed within a hard budget.',
    ]);
    expect((await ask('unbounded', { model: 'priceless/unknown' })).status).toBe(200);
  });

  test('counts what was spent before it was set, and applies changes to the next call', async () => {
    expect((await ask('early')).status).toBe(200);
    expect(await put('early', ofUser('early', '0.0003'))).toMatchObject({ spent_usd: '0.00022' });
    expect(outcome(await ask('early', { input: 'x'.repeat(100) }))).toEqual([
      403,
      'limit_reached',
      'budgets.early',
    ]);
    await put('early', ofUser('early', '0.001'));
    expect((await ask('early')).status).toBe(200);
    // Below what is spent.
    await put('early', ofUser('early', '0.0001'));
    expect(outcome(await ask('early'))).toEqual([403, 'limit_reached', 'budgets.early']);
    expect(await budget('early')).toMatchObject({ spent_usd: '0.00044', remaining_usd: '0' });
    await put('early', ofUser('early', '0.0001', { hard: false }));
    expect((await ask('early')).status).toBe(200);
    await asOwner('DELETE', `${own}/early`);
    expect((await ask('early')).status).toBe(200);
  });

  test('of a key counts the keys that it issued; of a tag all calls with it; the tightest one is named', async () => {
    const issued = await asOwner('POST', '/v1/workspaces/me/keys', { scopes: ['keys', 'responses'] });
    const { key, secret } = issued.body;
    const child = await askDaemon(daemon, 'POST', '/v1/workspaces/me/keys', { as: secret, json: {} });
    const budgets = { usd: '0.001', period: 'day', hard: true };
    await put('of-key', { ...budgets, scope: 'key', value: key.id });
    await put('of-tag', { ...budgets, usd: '0.0005', scope: 'tag', value: 'team=sea rch' });
    const tagged = { headers: { 'x-service-tags': 'job=7,team=sea rch' } };
    expect((await ask('a', {}, { as: child.body.secret, ...tagged })).status).toBe(200);
    expect((await ask('b', {}, tagged)).status).toBe(200);
    expect([(await budget('of-key')).spent_usd, (await budget('of-tag')).spent_usd]).toEqual([
      '0.00022',
      '0.00044',
    ]);
    const long = { input: 'x'.repeat(100) };
    expect(outcome(await ask('c', long, { as: child.body.secret, ...tagged }))[2]).toBe('budgets.of-tag');
    await put('of-key', { ...budgets, usd: '0.0001', scope: 'key', value: key.id });
    expect(outcome(await ask('c', long, { as: child.body.secret, ...tagged }))[2]).toBe('budgets.of-key');
    // A revoked key keeps its budget, which can be deleted.
    await asOwner('DELETE', `/v1/workspaces/me/keys/${key.id}`);
    expect((await budget('of-key')).spent_usd).toBe('0.00022');
    expect((await asOwner('DELETE', `${own}/of-key`)).status).toBe(200);
    await asOwner('DELETE', `${own}/of-tag`);
  });
});

test('thresholds are events once in each period, also of a soft budget that is exceeded', async () => {
  await put('soft', ofUser('soft', '0.0004', { hard: false, thresholds: [50, 100, 150] }));
  for (let call = 0; call < 4; call += 1) expect((await ask('soft')).status).toBe(200);
  await eventually('three thresholds', async () => (await budget('soft')).fired.length === 3);
  const fired = await eventsOf('soft');
  expect(fired.map(({ data }) => [data.percent, data.spent_usd])).toEqual([
    [50, '0.00022'],
    [100, '0.00044'],
    [150, '0.00066'],
  ]);
  expect(fired[0]).toMatchObject({
    type: 'budget.threshold',
    data: { budget: 'soft', scope: 'user', value: 'soft', hard: false, period: 'day', limit_usd: '0.0004' },
  });
  // A threshold that is added later, and reached, fires at once.
  const more = await put('soft', ofUser('soft', '0.0004', { hard: false, thresholds: [60, 100] }));
  expect(more.fired.map(({ percent }: { percent: number }) => percent).sort()).toEqual([100, 150, 50, 60]);
  expect(await eventsOf('soft')).toHaveLength(4);
  await asOwner('DELETE', `${own}/soft`);
});

test('thresholds and refusals are events exactly once when the daemon is killed again and again', async () => {
  let child: ChildDaemon = await startChildDaemon({ config: paidConfig(fake.baseUrl) });
  onTestFinished(() => child.remove());
  const thresholds = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95];
  const limit = 50 * paidUsd;
  await put('killed', ofUser('killed', limit.toFixed(6), { thresholds }), child);
  for (let round = 0; round < 4; round += 1) {
    const calls = Array.from({ length: 15 }, () => ask('killed', {}, {}, child).catch(() => undefined));
    await Promise.race(calls);
    child.signal('SIGKILL');
    await child.ended;
    await Promise.all(calls);
    child = await startChildDaemon({ home: child.home });
  }
  let last: Answer;
  do last = await ask('killed', {}, {}, child);
  while (last.status === 200);
  expect(outcome(last)).toEqual([403, 'limit_reached', 'budgets.killed']);
  const { spent_usd: spent } = await budget('killed', child);
  expect(Number(spent)).toBeLessThanOrEqual(limit);
  const reached = thresholds.filter((percent) => Number(spent) * 100 >= percent * limit - 1e-9);
  const state = async () => {
    const { fired, refused_at: refused } = await budget('killed', child);
    const percents = fired.map(({ percent }: { percent: number }) => percent);
    return percents.length >= reached.length && refused !== null ? percents : undefined;
  };
  const fired = await eventually('all thresholds', state);
  expect(fired.sort((a: number, b: number) => a - b)).toEqual(reached);
  const names = (await eventsOf('killed', child)).map(({ type, data }) => data.percent ?? type);
  expect(names.sort()).toEqual([...reached, 'budget.refused'].sort());
  expect(readLedger(child.home)).toMatchObject({ faults: [] });
});
