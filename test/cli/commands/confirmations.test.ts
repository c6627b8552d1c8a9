import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const gateway = (...args: string[]) => runCli(args, { env: { GATEWAY_HOME: daemon.home } });

test.each([
  ['responses delete resp_nosuch', 'There is no stored response "resp_nosuch".', 'gateway responses list'],
  ['threads delete th_nosuch', 'There is no thread "th_nosuch".', 'gateway threads list'],
  ['tokens revoke tok_nosuch', 'There is no token "tok_nosuch".', 'gateway tokens list'],
  ['sessions revoke key_nosuch', 'There is no login "key_nosuch".', 'gateway sessions list'],
  ['paywalls delete pw_nosuch', 'There is no paywall "pw_nosuch".', 'gateway paywalls list'],
  ['shouts delete 4711', 'There is no shout "4711".', 'gateway shouts list'],
  ['peer remove nosuch', 'There is no peer "nosuch".', 'gateway peer list'],
])('`%s` says that nothing has the id instead of asking', async (line, message, list) => {
  const { code, stderr } = await gateway(...line.split(' '));
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toContain(message);
  expect(stderr).toContain(list);
  expect(stderr).not.toContain('--yes');
});

test('a token that exists is revoked only after a confirmation', async () => {
  const { id } = JSON.parse((await gateway('tokens', 'create', 'laptop', '--json')).stdout);
  const asked = await gateway('tokens', 'revoke', id);
  expect(asked.code).toBe(exitCodes.usage);
  expect(asked.stderr).toContain(`Revoke ${id}? Calls with it will fail.`);
  expect((await gateway('tokens', 'revoke', id, '--yes')).code).toBe(0);
});

test('restore reports a missing file before it asks to stop the daemon', async () => {
  expect((await gateway('restore', 'missing.db')).stderr).toBe(
    'error: The file missing.db does not exist.\n',
  );
});

test('removing a host mentions its login only if there is one', async () => {
  await gateway('host', 'add', 'attic', 'https://attic.example.org');
  const { stderr } = await gateway('host', 'remove', 'attic');
  expect(stderr).toContain('Remove attic? Confirmation is required.');
  expect((await gateway('host', 'remove', 'attic', '--yes')).code).toBe(0);
  expect((await gateway('host', 'remove', 'local', '--yes')).stderr).toContain('cannot be removed');
});
