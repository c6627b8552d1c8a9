import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const budget = (id: string, usd: string, spent: string) => ({
  id,
  object: 'budget',
  scope: 'workspace',
  value: null,
  usd,
  period: 'day',
  hard: true,
  spent_usd: spent,
  held_usd: '0',
  forecast_usd: null,
  reached_at: null,
  resets_at: null,
  thresholds: [],
  fired: [],
});
const below = budget('below', '5', '4.999999999');
const usedUp = budget('used-up', '5', '5');

test.each([
  [[], exitCodes.done, []],
  [[below], exitCodes.done, []],
  [[below, usedUp, budget('over', '5', '7.1')], exitCodes.refused, ['used-up', 'over']],
])('budgets check of %j exits with %i', async (data, code, printed) => {
  const answer = { object: 'list', data, has_more: false, next: null };
  const { env } = await fakeDaemon({ 'GET /v1/workspaces/me/budgets': () => answer });
  const found = await runCli(['budgets', 'check', '--quiet'], { env });
  expect(found).toMatchObject({ code, stderr: '' });
  expect(found.stdout.split('\n').slice(0, -1)).toEqual(printed);
});

test('budgets check of one looks at that one', async () => {
  const { env } = await fakeDaemon({
    'GET /v1/workspaces/me/budgets/below': () => below,
    'GET /v1/workspaces/me/budgets/used-up': () => usedUp,
    'GET /v1/workspaces/me/budgets/none': (_call, reply) =>
      fail(reply, 404, { code: 'not_found', message: 'There is no budget none.' }),
  });
  const check = async (name: string) => (await runCli(['budgets', 'check', name], { env })).code;
  expect([await check('below'), await check('used-up'), await check('none')]).toEqual([
    exitCodes.done,
    exitCodes.refused,
    exitCodes.failed,
  ]);
});

test('budgets set sends a model or provider and when periods begin, and keeps what is not given', async () => {
  const before = {
    ...below,
    scope: 'provider',
    value: 'openai',
    time_zone: 'Europe/Berlin',
    day_starts: '06:00',
    week_starts: null,
  };
  const { env, calls } = await fakeDaemon({
    'GET /v1/workspaces/me/budgets/new': (_call, reply) =>
      fail(reply, 404, { code: 'not_found', message: 'There is no budget new.' }),
    'GET /v1/workspaces/me/budgets/below': () => before,
    'PUT /v1/workspaces/me/budgets/new': () => before,
    'PUT /v1/workspaces/me/budgets/below': () => before,
  });
  const set = async (...args: string[]) => {
    const { code, stderr, stdout } = await runCli(['budgets', 'set', ...args], { env, tty: true });
    return { code, stderr, stdout, body: calls.at(-1)?.body };
  };
  const added = await set('new', '5/week', '--model', 'openai/gpt-5', '--week-starts', 'sunday');
  expect(added.body).toEqual({
    usd: '5',
    period: 'week',
    scope: 'model',
    value: 'openai/gpt-5',
    week_starts: 'sunday',
    hard: false,
  });
  expect(added.stdout).toContain('$5 per day in Europe/Berlin from 06:00');
  const changed = await set('below', '--day-starts', '00:00', '--hard');
  expect(changed.body).toMatchObject({
    scope: 'provider',
    value: 'openai',
    time_zone: 'Europe/Berlin',
    day_starts: '00:00',
    week_starts: null,
    hard: true,
  });
  for (const odd of [
    ['--model', 'a', '--provider', 'b'],
    ['--time-zone', 'Mars'],
    ['--day-starts', '6:10'],
    ['--week-starts', 'someday'],
  ])
    expect((await set('new', '5/day', ...odd)).code).toBe(exitCodes.usage);
});

test('a refused value is named by its option, and a reached budget by what raises it', async () => {
  const path = '/v1/workspaces/me/budgets/new';
  const { env } = await fakeDaemon({
    [`GET ${path}`]: (_call, reply) => fail(reply, 404, { code: 'not_found', message: 'No.' }),
    [`PUT ${path}`]: (_call, reply) =>
      fail(reply, 400, { code: 'invalid_request', message: '`value` must be a tag.', param: 'value' }),
    'POST /v1/responses': (_call, reply) =>
      fail(reply, 429, { code: 'limit_reached', message: 'It is spent.', param: 'budgets.team-search' }),
  });
  const refused = await runCli(['budgets', 'set', 'new', '5/day', '--tag', 'a'], { env });
  expect(refused.stderr).toContain('error: --tag must be a tag.');
  expect(refused.stderr).toContain('Change --tag, then try again.');
  const reached = await runCli(['respond', '--model', 'm', 'Hi'], { env });
  expect(reached.stderr).toContain('To raise it: gateway budgets set team-search AMOUNT');
});
