import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon.stop());

const add = (...args: string[]) =>
  runCli(['peer', 'add', ...args], { env: { GATEWAY_HOME: daemon.home, KEY: 'gwk_example' } });

test.each([
  ['a name that no peer can have', ['Attic 1', 'https://attic.example.com'], /like attic\./],
  [
    'a key that is set and forgotten at once',
    ['attic', 'https://attic.example.com', '--from-env', 'KEY', '--no-key'],
    /'--no-key' cannot be used with option '--from-env <name>'/,
  ],
])('%s is a usage error', async (_, args, message) => {
  const { code, stdout, stderr } = await add(...args);
  expect([code, stdout, stderr]).toEqual([exitCodes.usage, '', expect.stringMatching(message)]);
  const list = await runCli(['peer', 'list', '-q'], { env: { GATEWAY_HOME: daemon.home } });
  expect(list.stdout).toBe('');
});
