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
