import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const sums = {
  requests: 2,
  tokens: { input: 10, cached_input: 4, cache_write: 0, output: 6, reasoning: 0 },
  cost: { provider_usd: '0.01', margin_usd: '0', total_usd: '0.01' },
  charged_usd: '0.01',
  unpriced_requests: 0,
};

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
    'GET /v1/workspaces/me/keys': () => ({
      object: 'list',
      data: [{ id: 'key_1', name: 'ann, bob', status: 'active' }],
      has_more: false,
      next: null,
    }),
    'GET /v1/sessions': () => ({ object: 'list', data: [], has_more: false, next: null }),
  });

test('usage by key is exported with the names of the keys, on a terminal, too', async () => {
  const { env } = await daemon();
  const lines = [
    'key,name,requests,input,cached_input,output,cost_usd,charged_usd',
    'key_1,"ann, bob",2,10,4,6,0.01,0.01',
    '',
  ];
  const piped = await runCli(['usage', '--group-by', 'key', '--csv'], { env });
  expect(piped.stdout).toBe(lines.join('\r\n'));
  const shown = await runCli(['usage', '--group-by', 'key', '--csv'], { env, tty: true });
  expect(shown.stdout).toBe(lines.join('\n'));
});

test('--csv cannot be combined with --json', async () => {
  const { env } = await daemon();
  const { code, stderr } = await runCli(['usage', '--csv', '--json'], { env });
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain("'--csv' cannot be used with option '--json");
});
