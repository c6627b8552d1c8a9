import { describe, expect, test } from 'vitest';
import type { ModelEntry } from '../../../src/shared/contract/models.ts';
import type { RateCard } from '../../../src/shared/contract/rates.ts';
import type { UsageView } from '../../../src/shared/contract/usage.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const prices = { input: '1.25', cached_input: '0.125', cache_write: '1.25', output: '10' };
const model = (id: string, members: Partial<ModelEntry['service']> = {}): ModelEntry => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'x',
  service: {
    name: id,
    description: null,
    context_length: 400_000,
    max_output_tokens: null,
    capabilities: {
      kind: 'chat',
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      tools: true,
      parallel_tools: null,
      structured_output: true,
      reasoning: false,
      logprobs: null,
    },
    providers: [{ provider: 'openai', model: id, available: true, reason: null, prices, live: null }],
    prices,
    live: null,
    ...members,
  },
});
const unavailable = model('acme/secret', {
  prices: null,
  providers: [
    {
      provider: 'acme',
      model: 's',
      available: false,
      reason: 'no key: set ACME_KEY',
      prices: null,
      live: null,
    },
  ],
});

describe('models list', () => {
  test('names a provider of several models of an alias once', async () => {
    const at = (name: string) => ({
      provider: 'openai',
      model: name,
      available: true,
      reason: null,
      prices,
      live: null,
    });
    const pool = model('pool', { providers: [at('gpt-5'), at('gpt-5-mini')] });
    const { env } = await fakeDaemon({ 'GET /v1/models': () => ({ object: 'list', data: [pool] }) });
    const { stdout } = await runCli(['models', 'list', '--no-color'], { env, tty: true });
    expect(stdout.match(/openai/g)).toHaveLength(1);
  });

  const listing = () =>
    fakeDaemon({
      'GET /v1/models': ({ path }) => ({
        object: 'list',
        data: path.endsWith('?all=true') ? [model('openai/gpt-5'), unavailable] : [model('openai/gpt-5')],
      }),
    });

  test('shows available models with prices and capabilities', async () => {
    const { env } = await listing();
    const { stdout, stderr } = await runCli(['models', 'list', '--no-color'], {
      env,
      tty: true,
      columns: 120,
    });
    expect(stdout).toMatch(/openai\/gpt-5 +\$1\.25 +\$10 +400,000 +tools json image +openai\n/);
    expect(stdout).not.toContain('acme');
    expect(stderr).toContain('per million tokens');
    expect(stderr).toContain('1 more');
  });

  test('shows unavailable models with --all, and an unknown price as unknown', async () => {
    const { env } = await listing();
    const { stdout } = await runCli(['models', 'list', '--all', '--match', 'ACME', '--no-color'], {
      env,
      tty: true,
    });
    expect(stdout).toMatch(/acme\/secret +unknown +unknown /);
    expect((await runCli(['models', 'list', '--all', '-q'], { env })).stdout).toBe(
      'openai/gpt-5\nacme/secret\n',
    );
  });
});

test.each([
  [['models']],
  [['models', '--match', 'gpt']],
  [['models', '--all', '--match', 'gpt']],
  [['--json', 'models']],
])('%j lists models', async (args) => {
  const { env, calls } = await fakeDaemon({
    'GET /v1/models': () => ({ object: 'list', data: [model('openai/gpt-5'), unavailable] }),
  });
  const { code, stdout } = await runCli(args, { env });
  expect(code).toBe(0);
  expect(stdout).toContain('openai/gpt-5');
  expect(calls).toHaveLength(1);
});

test('an unknown field is a usage error that names the valid ones', async () => {
  const { env } = await fakeDaemon({ 'GET /v1/models': () => ({ object: 'list', data: [model('m')] }) });
  const { code, stdout, stderr } = await runCli(['models', 'list', '--json=id,prize'], { env });
  expect({ code, stdout }).toEqual({ code: exitCodes.usage, stdout: '' });
  expect(stderr).toBe(
    'error: Unknown field: prize.\n  next    Valid fields: id, object, created, owned_by, service\n',
  );
});

test('models show names the providers and why one is missing', async () => {
  const { env } = await fakeDaemon({ 'GET /v1/models/acme/secret': () => unavailable });
  const { stdout } = await runCli(['models', 'show', 'acme/secret', '--no-color'], {
    env,
    tty: true,
    columns: 120,
  });
  expect(stdout).toMatch(/context length +400,000\n/);
  expect(stdout).toMatch(/acme +s +unknown .*no key: set ACME_KEY\n$/);
});

test('models show lists prices other than text', async () => {
  const dear = { ...prices, image_output: '30', fees: { web_search: '0.01' } };
  const { env } = await fakeDaemon({ 'GET /v1/models/m': () => model('m', { prices: dear }) });
  const { stdout } = await runCli(['models', 'show', 'm', '--no-color'], { env, tty: true, columns: 120 });
  expect(stdout).toMatch(/other prices +image_output \$30, web_search \$0\.01 each\n/);
});

test('rates show the total price', async () => {
  const rate = { provider_usd: '1', margin_usd: '0.05', total_usd: '1.05' };
  const card: RateCard = {
    object: 'list',
    unit: 'USD per million tokens',
    margin_percent: 5,
    as_of: '2026-11-21T00:00:00.000Z',
    data: [
      {
        model: 'm',
        provider: 'p',
        kind: 'list',
        input: rate,
        cached_input: null,
        cache_write: null,
        output: rate,
      },
    ],
  };
  const { env } = await fakeDaemon({ 'GET /v1/rates': () => card });
  expect((await runCli(['rates'], { env })).stdout).toBe('m\tp\t1.05\t\t\t1.05\n');
  const { stderr } = await runCli(['rates'], { env, tty: true });
  expect(stderr).toBe('USD per million tokens, including a margin of 5 %.\n');
});

describe('usage', () => {
  const tokens = { input: 1200, cached_input: 1000, cache_write: 0, output: 34, reasoning: 0 };
  const cost = { provider_usd: '0.0001', margin_usd: '0', total_usd: '0.0001' };

  test('shows the usage of a request', async () => {
    const usage: UsageView = {
      request_id: 'req_1',
      response_id: 'resp_1',
      created_at: '2026-11-21T08:00:00.000Z',
      completed_at: '2026-11-21T08:00:02.000Z',
      endpoint: '/v1/responses',
      model: 'm',
      provider: 'b',
      key: null,
      streamed: true,
      status: 'completed',
      tokens,
      cost,
      charged_usd: '0.0001',
      own_key: false,
      attempts: [
        { provider: 'a', model: 'm', status: 503, error_code: 'overloaded', ms: 12 },
        { provider: 'b', model: 'm', status: 200, error_code: null, ms: 900 },
      ],
      ttft_ms: 300,
      total_ms: 2000,
    };
    const { env } = await fakeDaemon({ 'GET /v1/usage/req_1': () => usage });
    const { stdout } = await runCli(['usage', 'req_1'], { env });
    expect(stdout).toContain('attempts\ta overloaded, b 200\n');
    expect(stdout).toContain('cached_input\t1000\n');
    const json = await runCli(['usage', 'req_1', '--json'], { env });
    expect(JSON.parse(json.stdout)).toEqual(usage);
  });

  test.each([['lately'], ['2026-11'], ['2026-11-01 08:00']])(
    'since %s is rejected with the right format',
    async (since) => {
      const { code, stderr } = await runCli(['usage', '--since', since]);
      expect(code).toBe(2);
      expect(stderr).toContain('2026-11-01T08:00:00Z');
    },
  );

  test('groups totals as requested', async () => {
    const sums = { requests: 3, rejected: 2, unpriced_requests: 1, tokens, cost, charged_usd: '0.0001' };
    const { env, calls } = await fakeDaemon({
      'GET /v1/usage': () => ({
        object: 'list',
        group_by: 'key',
        since: '2026-11-01T00:00:00.000Z',
        until: '2026-11-21T00:00:00.000Z',
        total: sums,
        data: [{ group: null, ...sums }],
        has_more: false,
        next: null,
      }),
    });
    const args = ['usage', '--group-by', 'key', '--since', '2026-11-01', '--no-color'];
    const { stdout, stderr } = await runCli(args, { env, tty: true, columns: 120 });
    const narrow = await runCli(args, { env, tty: true, columns: 40 });
    expect(narrow.stdout).toMatch(/^KEY +REQUESTS +REJECTED .*CHARGED\nlogin +3 .*\$0\.0001\n$/);
    for (const line of narrow.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
    expect(calls[0]?.path).toBe('/v1/usage?since=2026-11-01&group_by=key');
    expect(stdout).toMatch(/^KEY +REQUESTS .*\nlogin +3 +2 +1,200 +1,000 +0 +34 +0 +\$0\.0001 +\$0\.0001\n$/);
    expect(stderr).toContain('no known price');
  });

  test.each(['model', 'key'])('lists the dearest %s first', async (grouping) => {
    const group = (name: string, usd: string, requests = 1) => ({
      group: name,
      requests,
      unpriced_requests: 0,
      tokens,
      cost: { ...cost, total_usd: usd },
      charged_usd: usd,
    });
    const pages = {
      '': { data: [group('a', '0.002'), group('b', '0')], next: 'b' },
      b: { data: [group('c', '0', 2), group('d', '0.1'), group('e', '0.02')], next: null },
    };
    const { env } = await fakeDaemon({
      'GET /v1/usage': ({ path }) => ({
        group_by: grouping,
        total: group('', '0.122'),
        ...pages[path.includes('after=b') ? 'b' : ''],
      }),
      'GET /v1/workspaces/me/keys': () => ({ data: [], next: null }),
    });
    const { stdout } = await runCli(['usage', '--group-by', grouping, '--json=group'], { env });
    expect(JSON.parse(stdout).map((row: { group: string }) => row.group)).toEqual(['d', 'e', 'a', 'c', 'b']);
  });
});
