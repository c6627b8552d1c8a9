import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const sums = {
  requests: 2,
  rejected: 3,
  tokens: { input: 10, cached_input: 4, cache_write: 0, output: 6, reasoning: 0 },
  cost: { provider_usd: '0.01', margin_usd: '0', total_usd: '0.01' },
  charged_usd: '0.01',
  unpriced_requests: 0,
};

const distribution = { count: 2, p50: 1, p90: 2, p95: 3, p99: 4 };

const daemon = () =>
  fakeDaemon({
    'GET /v1/usage': () => ({
      object: 'list',
      group_by: 'key',
      data: [{ group: 'key_1', ...sums }],
      total: sums,
      has_more: false,
      next: null,
    }),
    'GET /v1/usage/series': () => ({
      object: 'usage.series',
      bucket: 'hour',
      buckets: [{ start: '2026-11-21T12:00:00.000Z', end: '2026-11-21T13:00:00.000Z' }],
      series: [
        {
          group: 'key_1',
          is_other: false,
          requests: [2],
          rejected: [3],
          errors: [1],
          input_tokens: [10],
          cached_input_tokens: [4],
          output_tokens: [6],
          cost_usd: ['0.01'],
          charged_usd: ['0.01'],
        },
      ],
    }),
    'GET /v1/usage/latency': () => ({
      object: 'usage.latency',
      series: [
        {
          group: null,
          first_token_ms: [distribution],
          total_ms: [distribution],
          tokens_per_second: [distribution],
          overhead_ms: [distribution],
        },
      ],
    }),
    'GET /v1/workspaces/me/keys': () => ({
      object: 'list',
      data: [{ id: 'key_1', name: 'ann, bob', status: 'active' }],
      has_more: false,
      next: null,
    }),
    'GET /v1/sessions': () => ({ object: 'list', data: [], has_more: false, next: null }),
  });

// BerriAI/litellm#32015: all kinds of tokens that have prices are in it.
test('usage by key is exported with the names of the keys, on a terminal, too', async () => {
  const { env } = await daemon();
  const lines = [
    'key,name,requests,rejected,input,cached_input,cache_write,output,reasoning,cost_usd,charged_usd',
    'key_1,"ann, bob",2,3,10,4,0,6,0,0.01,0.01',
    '',
  ];
  const piped = await runCli(['usage', '--group-by', 'key', '--csv'], { env });
  expect(piped.stdout).toBe(lines.join('\r\n'));
  const shown = await runCli(['usage', '--group-by', 'key', '--csv'], { env, tty: true });
  expect(shown.stdout).toBe(lines.join('\n'));
});

test.each([
  ['usage', '--group-by', 'key'],
  ['usage', 'series', '--group-by', 'key'],
  ['usage', 'latency'],
])('%s %s %s has the names of CSV in JSON, too', async (...args) => {
  const { env } = await daemon();
  const { stdout } = await runCli([...args, '--csv'], { env });
  const [head = '', first = ''] = stdout.split('\r\n');
  const json = JSON.parse((await runCli([...args, '--json'], { env })).stdout) as Record<string, unknown>[];
  expect(Object.keys(json[0] ?? {})).toEqual(expect.arrayContaining(head.split(',')));
  const values = head.split(',').map((name) => String(json[0]?.[name] ?? ''));
  expect(values.map((value) => (value.includes(',') ? `"${value}"` : value)).join()).toBe(first);
});

test('--delimiter separates the cells as a spreadsheet expects it, and pipes get no mark', async () => {
  const { env } = await daemon();
  const args = ['usage', '--group-by', 'key', '--csv', '--delimiter'];
  const { stdout } = await runCli([...args, 'semicolon'], { env });
  expect(stdout.split('\r\n')[1]).toBe('key_1;ann, bob;2;3;10;4;0;6;0;0,01;0,01');
  expect((await runCli([...args, 'tab'], { env })).stdout.split('\r\n')[1]).toContain('key_1\tann, bob\t2');
  expect((await runCli([...args, ';'], { env })).code).toBe(exitCodes.usage);
});

test('--csv cannot be combined with --json', async () => {
  const { env } = await daemon();
  const { code, stderr } = await runCli(['usage', '--csv', '--json'], { env });
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain("'--csv' cannot be used with option '--json");
});
