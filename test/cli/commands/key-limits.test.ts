import { describe, expect, test } from 'vitest';
import type { Limits } from '../../../src/shared/contract/key-limits.ts';
import type { KeyWithUse } from '../../../src/shared/contract/keys.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { limitsText } from '../../../src/view/limits.ts';
import { runCli } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const limits: Limits = {
  spend_cap: { usd: '5', period: 'day' },
  max_price: { input: null, output: '10' },
  models: ['openai/*'],
  requests_per_minute: 60,
  concurrency: null,
  queue_seconds: null,
  expires_at: '2027-01-01T00:00:00.000Z',
};
const path = '/v1/workspaces/me/keys/key_1/limits';
const now = () => Date.parse('2026-12-02T00:00:00Z');

describe('keys limits', () => {
  test.each<[string[], object]>([
    [['--spend-cap', '5/day'], { spend_cap: { usd: '5', period: 'day' } }],
    [['--spend-cap', '$0.25/month'], { spend_cap: { usd: '0.25', period: 'month' } }],
    [['--spend-cap', '100'], { spend_cap: { usd: '100', period: 'total' } }],
    [['--max-price', '1.5,6'], { max_price: { input: '1.5', output: '6' } }],
    [['--max-price', ',6'], { max_price: { input: null, output: '6' } }],
    [['--model', 'openai/*', 'sim/*'], { models: ['openai/*', 'sim/*'] }],
    [['--rpm', '60'], { requests_per_minute: 60 }],
    [['--concurrency', '2', '--queue', '2m'], { concurrency: 2, queue_seconds: 120 }],
    [['--queue', '0s', '--clear', 'concurrency'], { queue_seconds: 0, concurrency: null }],
    [['--expires', '30d'], { expires_at: '2027-01-01T00:00:00.000Z' }],
    [['--expires', '12h'], { expires_at: '2026-12-02T12:00:00.000Z' }],
    [['--expires', '2027-01-31'], { expires_at: '2027-01-31T00:00:00Z' }],
    [
      ['--clear', 'spend-cap', 'expires', '--rpm', '5'],
      { spend_cap: null, expires_at: null, requests_per_minute: 5 },
    ],
    // Removing wins over setting.
    [['--rpm', '60', '--clear', 'rpm'], { requests_per_minute: null }],
  ])('set %j sends only the given limits', async (flags, body) => {
    const { env, calls } = await fakeDaemon({ [`PUT ${path}`]: () => limits });
    const { code } = await runCli(['keys', 'limits', 'set', 'key_1', ...flags], { env, now });
    expect([code, calls[0]?.body]).toEqual([0, body]);
  });

  test.each([
    [['--spend-cap', '5/year'], '5/day'],
    [['--spend-cap', 'five'], '5/day'],
    [['--max-price', ','], '1.5,6'],
    [['--rpm', '0'], 'whole number from 1'],
    [['--concurrency', '0'], 'whole number from 1'],
    [['--queue', '2h'], 'at most 3600s'],
    [['--queue', 'long'], '30s or 2m'],
    [['--expires', 'soon'], '30d'],
    [['--expires', '99999999d'], '36500d'],
    [['--expires', '0d'], '1s'],
    [['--clear', 'everything'], 'spend-cap'],
    [[], '--spend-cap'],
  ])('set %j is invalid, and the error says what is valid', async (flags, hint) => {
    const { env, calls } = await fakeDaemon({});
    const { code, stderr } = await runCli(['keys', 'limits', 'set', 'key_1', ...flags], { env, now });
    expect([code, calls]).toEqual([exitCodes.usage, []]);
    expect(stderr).toContain(hint);
  });

  test('get prints them for people and for programs', async () => {
    const { env } = await fakeDaemon({ [`GET ${path}`]: () => limits });
    const shown = await runCli(['keys', 'limits', 'get', 'key_1'], {
      env: { ...env, NO_COLOR: '1' },
      tty: true,
      now,
    });
    expect(shown.stdout).toMatch(/^spend cap +\$5 per day$/m);
    expect(shown.stdout).toMatch(/^max price output +\$10 per million tokens$/m);
    expect(shown.stdout).toMatch(/in 1 month\)$/m);
    const piped = await runCli(['keys', 'limits', 'get', 'key_1'], { env, now });
    expect(piped.stdout).toContain('spend_cap\t5/day\n');
    expect(piped.stdout).toContain('max_price_input_usd\t\n');
    const wrong = await runCli(['keys', 'limits', 'get', 'key_1', '--rpm', '5'], { env, now });
    expect(wrong.code).toBe(exitCodes.usage);
  });
});

test('a cap without a period is one in total, and reads so', async () => {
  const { env, calls } = await fakeDaemon({
    'POST /v1/workspaces/me/keys': () => ({ key: { id: 'key_1', name: 'ci', scopes: [] }, secret: 's' }),
    [`GET ${path}`]: () => ({ ...limits, spend_cap: { usd: '5', period: 'total' } }),
  });
  await runCli(['keys', 'issue', '--name', 'ci', '--spend-cap', '5'], { env, now });
  expect(calls[0]?.body).toEqual({ name: 'ci', limits: { spend_cap: { usd: '5', period: 'total' } } });
  const { stdout } = await runCli(['keys', 'limits', 'get', 'key_1'], { env, tty: true, now });
  expect(stdout).toMatch(/spend cap.* \$5 in total$/m);
});

test('keys issue sends limits and permissions', async () => {
  const { env, calls } = await fakeDaemon({
    'POST /v1/workspaces/me/keys': () => ({ key: { id: 'key_1', name: 'ci', scopes: [] }, secret: 's' }),
  });
  const flags = [
    '--name',
    'ci',
    '--spend-cap',
    '5/day',
    '--expires',
    '30d',
    '--allow-model',
    'sim/*',
    '--allow-action',
    'chat',
    '--cache',
    'read-write',
    '--store',
    'no',
    '--events',
    'off',
  ];
  await runCli(['keys', 'issue', ...flags], { env, now });
  expect(calls[0]?.body).toEqual({
    name: 'ci',
    models: ['sim/*'],
    actions: ['chat'],
    limits: { spend_cap: { usd: '5', period: 'day' }, expires_at: '2027-01-01T00:00:00.000Z' },
    defaults: { cache: 'read-write', store: false, events: false },
  });
});

test('keys defaults sends the given defaults and clears', async () => {
  const { env, calls } = await fakeDaemon({
    'PUT /v1/workspaces/me/keys/key_1/defaults': () => ({
      cache: 'read-only',
      store: null,
      events: null,
      capture: null,
    }),
  });
  const args = ['keys', 'defaults', 'key_1', '--cache', 'read-only', '--clear', 'store'];
  const { stdout } = await runCli(args, { env });
  expect(calls[0]?.body).toEqual({ cache: 'read-only', store: null });
  expect(stdout).toBe('cache\tread-only\nstore\t\nevents\t\ncapture\t\n');
  const nothing = await runCli(['keys', 'defaults', 'key_1'], { env });
  expect(nothing.code).toBe(exitCodes.usage);
  expect(nothing.stderr).toContain('gateway keys show key_1');
});

test('keys show draws the used share of the limits', async () => {
  const key: KeyWithUse = {
    id: 'key_1',
    name: 'ci',
    workspace: 'ws_1',
    owner: 'usr_1',
    status: 'active',
    scopes: ['responses'],
    models: null,
    actions: ['chat'],
    limits,
    defaults: { cache: 'read-write', store: false, events: null, capture: null },
    hint: 'gwk_aB3d…x9Zk',
    created_at: '2026-11-20T08:00:00.000Z',
    last_used_at: null,
    revoked_at: null,
    rotated_at: null,
    paused_at: null,
    previous_secrets: [],
    used: {
      spend_usd: { total: '7', day: '2.5', month: '7' },
      spend_cap: {
        spent_usd: '2.5',
        period_start: '2026-11-21T00:00:00.000Z',
        resets_at: '2026-11-22T00:00:00.000Z',
      },
      requests_last_minute: 60,
    },
  };
  const { env } = await fakeDaemon({ 'GET /v1/workspaces/me/keys/key_1': () => key });
  const { stdout } = await runCli(['keys', 'show', 'key_1'], {
    env: { ...env, NO_COLOR: '1' },
    tty: true,
    now,
  });
  expect(stdout).toMatch(/^spend day +████████░░░░░░░░ \$2\.50 of \$5$/m);
  expect(stdout).toMatch(/^spend total +\$7$/m);
  expect(stdout).toMatch(/^defaults +cache read-write, not stored$/m);
  expect(stdout).toMatch(/^requests last minute +████████████████ 60 of 60$/m);
  const piped = await runCli(['keys', 'show', 'key_1'], { env, now });
  expect(piped.stdout).toContain('spend_day_usd\t2.5\n');
});

describe('credit', () => {
  test('grant sends the amount, the note and the reference', async () => {
    const { env, calls } = await fakeDaemon({
      'POST /v1/admin/credit': () => ({ id: 'grant_1', workspace: 'ws_1', usd: '20', balance_usd: '25' }),
    });
    const { code, stdout } = await runCli(['credit', 'grant', 'laboratory', '20', '--reference', 'r1'], {
      env,
    });
    expect(calls.at(-1)?.body).toEqual({ workspace: 'laboratory', usd: '20', note: null, reference: 'r1' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('balance_usd\t25\n')]);
  });

  test('show falls back to the caller’s own workspace if the caller is no admin', async () => {
    const { env } = await fakeDaemon({
      'GET /v1/admin/credit': (_call, response) =>
        fail(response, 403, { code: 'permission', message: 'No.' }),
      'GET /v1/key': () => ({ workspace: 'ws_2', balance_usd: '3', spend_usd: { total: '1' } }),
    });
    const { code, stdout } = await runCli(['credit'], { env });
    expect([code, stdout]).toEqual([0, 'workspace\tws_2\nbalance_usd\t3\nspent_usd\t1\n']);
    expect((await runCli(['credit', 'show', 'ws_1'], { env })).code).toBe(exitCodes.refused);
  });
});

test('a limit of one call is written in the singular', () => {
  const none = {
    spend_cap: null,
    max_price: null,
    models: null,
    concurrency: null,
    queue_seconds: null,
    expires_at: null,
  };
  expect(limitsText({ ...none, requests_per_minute: 1 })).toBe('1 call per minute');
  expect(limitsText({ ...none, requests_per_minute: 60 })).toBe('60 calls per minute');
});

describe('ledger verify', () => {
  const check = {
    ok: true,
    checked_at: '',
    accounts: 3,
    entries: 1200,
    grants: 1,
    holds: 0,
    problems: [] as string[],
  };

  test('reports that the ledger balances', async () => {
    const { env } = await fakeDaemon({ 'POST /v1/admin/ledger/verify': () => check });
    const { code, stdout, stderr } = await runCli(['ledger', 'verify'], { env });
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain('The ledger balances: 3 accounts, 1,200 entries, 1 grant, 0 running calls.');
  });

  test('prints one problem per line, and exits 1', async () => {
    const problems = ['The balance of margin is off.', 'Money is held for req_1.'];
    const { env } = await fakeDaemon({
      'POST /v1/admin/ledger/verify': () => ({ ...check, ok: false, problems }),
    });
    const { code, stdout } = await runCli(['ledger', 'verify'], { env });
    expect([code, stdout]).toEqual([exitCodes.failed, `${problems.join('\n')}\n`]);
    const asJson = await runCli(['ledger', 'verify', '--json'], { env });
    expect([asJson.code, JSON.parse(asJson.stdout).problems]).toEqual([exitCodes.failed, problems]);
  });
});

test('a spending limit has weeks, and a calendar only together with it', async () => {
  const { env, calls } = await fakeDaemon({
    'PUT /v1/workspaces/me/keys/key_1/limits': ({ body }) => ({ ...limits, ...(body as object) }),
  });
  const set = (...flags: string[]) => runCli(['keys', 'limits', 'set', 'key_1', ...flags], { env, now });
  const calendar = ['--time-zone', 'Europe/Berlin', '--day-starts', '06:00', '--week-starts', 'sunday'];
  expect((await set('--spend-cap', '20/week', ...calendar)).code).toBe(0);
  expect(calls.at(-1)?.body).toEqual({
    spend_cap: {
      usd: '20',
      period: 'week',
      time_zone: 'Europe/Berlin',
      day_starts: '06:00',
      week_starts: 'sunday',
    },
  });
  const alone = await set('--time-zone', 'Europe/Berlin');
  expect([alone.code, calls.length]).toEqual([exitCodes.usage, 1]);
  expect(alone.stderr).toContain('--spend-cap');
});
