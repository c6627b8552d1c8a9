import { expect, test } from 'vitest';
import { runCli } from '../../support/run-cli.ts';
import { fakeDaemon } from '../fake-daemon.ts';

const cache = { object: 'cache', entries: 3, bytes: 1200, default: 'off', ttl_seconds: 3600 };

const start = () =>
  fakeDaemon({
    'GET /v1/workspaces/me/cache': () => cache,
    'GET /v1/workspaces/laboratory/cache': () => ({ ...cache, entries: 0 }),
    'DELETE /v1/workspaces/me/cache': () => ({ object: 'cache', removed: 1 }),
  });

test('cache show prints lines in a pipe, and JSON on request', async () => {
  const { env } = await start();
  const piped = await runCli(['cache'], { env });
  expect(piped.stdout).toBe('entries\t3\nbytes\t1200\ndefault\toff\nttl_seconds\t3600\n');
  const json = await runCli(['cache', 'show', '--json'], { env });
  expect(JSON.parse(json.stdout)).toEqual(cache);
  const other = await runCli(['cache', 'show', '--workspace', 'laboratory'], { env });
  expect(other.stdout).toContain('entries\t0\n');
});

test('cache clear reports how many responses were removed', async () => {
  const { env } = await start();
  const cleared = await runCli(['cache', 'clear'], { env });
  expect(cleared).toMatchObject({ code: 0, stdout: '' });
  expect(cleared.stderr).toContain('1 response was removed.');
  const json = await runCli(['cache', 'clear', '--json'], { env });
  expect(JSON.parse(json.stdout)).toEqual({ object: 'cache', removed: 1 });
});
