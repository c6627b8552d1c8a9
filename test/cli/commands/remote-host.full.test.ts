import { readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCliChild } from '../../support/cli-child.ts';
import { type RunOptions, type RunResult, runCli, temporaryHome } from '../../support/run-cli.ts';
import { noSecretService, type SecretService, startSecretService } from '../../support/secret-service.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { askDaemon } from '../../support/users.ts';

/** The daemon of this machine, and one elsewhere. */
let local: RunningDaemon;
let remote: RunningDaemon;

beforeAll(async () => {
  [local, remote] = await Promise.all([startDaemon(), startDaemon()]);
});

afterAll(async () => {
  await Promise.all([local.stop(), remote.stop()]);
});

let users = 0;

/** A new user of the remote host: handle, code and link, as its operator's terminal printed them. */
async function newUser(): Promise<{ handle: string; code: string; link: string }> {
  users += 1;
  const { stdout } = await runCli(['users', 'add', `user-${users}`], { env: { GATEWAY_HOME: remote.home } });
  const [handle = '', code = '', link = ''] = stdout.trim().split('\t');
  return { handle, code, link };
}

const file = ['--insecure-storage'];

/** A person at this machine, with a home of their own, who logs in there. */
async function loggedIn() {
  const env = { GATEWAY_HOME: await temporaryHome() };
  const user = await newUser();
  const run = (args: string[], options: RunOptions = {}): Promise<RunResult> =>
    runCli(args, { env, ...options });
  const { code, stderr } = await run(['login', remote.url, ...file], { stdin: user.code });
  expect([code, stderr]).toEqual([0, expect.stringContaining('Commands now connect to')]);
  return { ...user, env, run };
}

/** Everything that the files of a home say. */
function textOf(home: string): string {
  const names = readdirSync(home, { withFileTypes: true, recursive: true });
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

describe('a login to another host', () => {
  test('is created with a code, and commands then use that host', async () => {
    const { handle, run } = await loggedIn();
    const who = JSON.parse((await run(['whoami', '--json'])).stdout);
    expect(who).toMatchObject({ url: remote.url, user: { handle }, workspace: { slug: handle } });
    const issued = await run(['keys', 'issue', '--quiet']);
    expect(issued.stdout).toMatch(/^gwk_/);
    const asked = await askDaemon(remote, 'GET', '/v1/key', { as: issued.stdout.trim() });
    expect(asked.status).toBe(200);
    const answer = await run(['respond', '--model', 'sim/echo', 'Over there.']);
    expect([answer.code, answer.stdout]).toEqual([0, 'Over there.\n']);
    expect((await run(['usage', '--json'])).stdout).toContain('"requests":1');
  });

  test('is created with a pasted link, which includes the address', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    const { handle, link } = await newUser();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#\w{5}-\w{5}$/);
    const options = { env, typed: [link], tty: true };
    const { code, stderr } = await runCli(['login', ...file], options);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Login link: ')]);
    expect((await runCli(['whoami', '--quiet'], { env })).stdout).toBe(`${handle}\n`);
  });

  test('takes the code from the environment, never from an argument', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    const { code, link } = await newUser();
    const inArgument = await runCli(['login', link, ...file], { env });
    expect([inArgument.code, inArgument.stderr]).toEqual([
      2,
      expect.stringContaining('can be read by other users'),
    ]);
    const without = await runCli(['login', remote.url, '--code-from-env', 'NONE', ...file], { env });
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('No code was given')]);
    const args = ['login', remote.url, '--code-from-env', 'CODE', '--name', 'work', ...file];
    expect(await runCli(args, { env: { ...env, CODE: code } })).toMatchObject({ code: 0 });
    const hosts = JSON.parse((await runCli(['host', 'list', '--json'], { env })).stdout);
    expect(hosts[1]).toMatchObject({ name: 'work', url: remote.url, is_current: true, login: 'file' });
  });

  test('warns about variables that take precedence', async () => {
    const env = { GATEWAY_HOME: await temporaryHome(), GATEWAY_KEY: remote.key };
    const { code } = await newUser();
    const { stderr } = await runCli(['login', remote.url, ...file], { env, stdin: code });
    expect(stderr).toContain('GATEWAY_KEY is set');
    expect(JSON.parse((await runCli(['whoami', '--json'], { env })).stdout).key.name).toBe('default');
  });

  // checkly/checkly-cli#1363, steel-dev/cli#58, BaseIntelligence/bounty-challenge#45052, valon-technologies/gestalt#48
  test('that ends leaves a variable, which whoami and logout name', async () => {
    const { run, env } = await loggedIn();
    const withKey = { env: { ...env, GATEWAY_KEY: remote.key } };
    const who = await run(['whoami', '--json'], withKey);
    expect([JSON.parse(who.stdout).key.name, who.stderr]).toEqual([
      'default',
      'GATEWAY_KEY is used, not a login.\n',
    ]);
    expect(await run(['whoami', '--quiet'])).toMatchObject({ stderr: '' });
    expect(await run(['logout'], withKey)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('GATEWAY_KEY is still set'),
    });
    expect(await run(['logout', '--host', 'http://127.0.0.1:1'], withKey)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unset it'),
    });
  });

  test('with a wrong code fails with what to do next', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    const { code, stderr } = await runCli(['login', remote.url, ...file], { env, stdin: 'WRONG-CODES' });
    expect([code, stderr]).toEqual([exitCodes.signIn, expect.stringContaining('gateway users login-code')]);
  });

  test('is stored in a private file on request', async () => {
    const { env, run } = await loggedIn();
    const path = join(env.GATEWAY_HOME, 'host-logins.json');
    expect(readFileSync(path, 'utf8')).toContain('gwl_');
    expect(readFileSync(join(env.GATEWAY_HOME, 'hosts.json'), 'utf8')).not.toContain('gwl_');
    if (process.platform === 'win32') return;
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await chmod(path, 0o644);
    const { code, stderr } = await run(['whoami']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('can be read by other users')]);
  });

  test('fails before its code is used if it cannot be stored', async () => {
    const env = { GATEWAY_HOME: await temporaryHome(), DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
    if (process.platform !== 'linux') return;
    const user = await newUser();
    const refused = await runCli(['login', remote.url], { env, stdin: user.code });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--insecure-storage')]);
    expect(textOf(env.GATEWAY_HOME)).toBe('');
    const { code } = await runCli(['login', remote.url, ...file], { env, stdin: user.code });
    expect(code).toBe(0);
  });

  test('ends with logout, on the host and here', async () => {
    const { env, run } = await loggedIn();
    const [secret = ''] = textOf(env.GATEWAY_HOME).match(/gwl_\w+/) ?? [];
    expect((await askDaemon(remote, 'GET', '/v1/sessions', { as: secret })).status).toBe(200);
    expect((await run(['logout'])).code).toBe(0);
    expect((await askDaemon(remote, 'GET', '/v1/sessions', { as: secret })).status).toBe(401);
    expect(textOf(env.GATEWAY_HOME)).not.toContain('gwl_');
    const { code, stderr } = await run(['whoami']);
    expect([code, stderr]).toEqual([exitCodes.signIn, expect.stringContaining('gateway login')]);
  });

  test('is separate for users who share host and machine', async () => {
    const { handle, env, run } = await loggedIn();
    const other = await newUser();
    const name = new URL(remote.url).host;
    await run(['login', remote.url, '--name', 'theirs', ...file], { stdin: other.code });
    const who = async (host: string) => (await run(['whoami', '--quiet', '--host', host])).stdout.trim();
    expect([await who(name), await who('theirs')]).toEqual([handle, other.handle]);
    expect((await run(['logout', '--host', 'theirs'])).code).toBe(0);
    expect(await who(name)).toBe(handle);
    expect(textOf(env.GATEWAY_HOME).match(/gwl_\w+/g)).toHaveLength(1);
  });

  test('replaces the previous one, which ends', async () => {
    const { handle, env, run } = await loggedIn();
    const [before] = textOf(env.GATEWAY_HOME).match(/gwl_\w+/) ?? [];
    const operator = { env: { GATEWAY_HOME: remote.home } };
    const { stdout } = await runCli(['users', 'login-code', handle, '--quiet'], operator);
    const again = await run(['login', ...file], { stdin: stdout });
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    expect(textOf(env.GATEWAY_HOME)).not.toContain(before);
    const { status } = await askDaemon(remote, 'GET', '/v1/sessions/current', { as: before as string });
    expect(status).toBe(401);
    expect((await run(['whoami', '--quiet'])).stdout).toBe(`${handle}\n`);
  });

  test("is listed among the user's logins, and can be revoked from another", async () => {
    const { handle, run } = await loggedIn();
    const operator = { env: { GATEWAY_HOME: remote.home } };
    const { stdout: code } = await runCli(['users', 'login-code', handle, '--jq', '.code'], operator);
    const phone = { env: { GATEWAY_HOME: await temporaryHome() }, stdin: code };
    await runCli(['login', remote.url, ...file], phone);
    const sessions = JSON.parse((await run(['sessions', '--json'])).stdout);
    const other = sessions.find((session: { is_current: boolean }) => !session.is_current);
    expect((await run(['sessions', 'revoke', other.id, '--yes'])).code).toBe(0);
    expect((await runCli(['whoami'], phone)).code).toBe(exitCodes.signIn);
    expect((await run(['whoami'])).code).toBe(0);
  });
});

describe('hosts', () => {
  test('are added, used, listed and removed', async () => {
    const { env, run } = await loggedIn();
    const name = new URL(remote.url).host;
    expect((await run(['host', 'add', 'here', local.url])).stderr).toContain('gateway login here');
    const listed = (await run(['host'])).stdout.split('\n').map((line) => line.split('\t').slice(0, 3));
    expect(listed.slice(0, 3)).toEqual([
      ['local', '', 'false'],
      [name, remote.url, 'true'],
      ['here', local.url, 'false'],
    ]);
    await run(['host', 'use', 'here']);
    expect((await run(['models', '--json'])).code).toBe(0);
    expect((await run(['whoami'])).code).toBe(exitCodes.signIn);
    expect((await run(['whoami', '--host', name])).code).toBe(0);
    expect((await run(['whoami'], { env: { ...env, GATEWAY_HOST: name } })).code).toBe(0);
    expect((await run(['whoami', '--host', remote.url])).code).toBe(0);
    expect((await run(['host', 'remove', name, '--yes'])).code).toBe(0);
    expect(textOf(env.GATEWAY_HOME)).not.toContain('gwl_');
    expect((await run(['host', 'use', name])).stderr).toContain('No host named');
    await run(['host', 'use', 'local']);
    expect(await run(['whoami'])).toMatchObject({ code: exitCodes.tryLater });
  });

  test('have unambiguous names', async () => {
    const env = { GATEWAY_HOME: await temporaryHome() };
    for (const name of ['local', 'https://x', 'a b', '../x']) {
      expect((await runCli(['host', 'add', name, local.url], { env })).code).toBe(exitCodes.usage);
    }
    expect((await runCli(['host', 'use', 'constructor'], { env })).code).toBe(exitCodes.failed);
  });

  test("never get another host's login", async () => {
    const { env, run } = await loggedIn();
    await run(['host', 'add', 'here', local.url]);
    expect((await run(['whoami', '--host', 'here'])).code).toBe(exitCodes.signIn);
    // The machine's own daemon is spoken to as its owner, whatever host is in use.
    const home = { ...env, GATEWAY_HOME: local.home };
    expect((await run(['whoami', '--quiet', '--host', 'local'], { env: home })).stdout).toBe('owner\n');
    expect((await run(['whoami', '--quiet', '--host', remote.url], { env: home })).code).toBe(
      exitCodes.signIn,
    );
  });

  test('in use are not mistaken for this machine', async () => {
    const other = await startDaemon();
    const env = { GATEWAY_HOME: await temporaryHome() };
    const run = (args: string[], options: RunOptions = {}) => runCli(args, { env, ...options });
    try {
      const { stdout } = await runCli(['users', 'login-code', 'owner'], {
        env: { GATEWAY_HOME: other.home },
      });
      const [, code = ''] = stdout.trim().split('\t');
      await run(['login', other.url, '--name', 'work', ...file], { stdin: code });
      expect((await run(['doctor'])).stdout).toContain(`\tdaemon\t${other.url}, process`);
      expect((await run(['config', 'get', 'listen.port'])).stdout).toBe('0\n');
      const logs = await run(['logs']);
      expect([logs.code, logs.stderr]).toEqual([2, expect.stringContaining('The log of work')]);
      expect((await run(['logs', '--host', 'local'])).code).toBe(0);
      const here = await run(['stop', '--host', 'local']);
      expect([here.code, here.stderr]).toEqual([0, 'The daemon is not running.\n']);
      const unasked = await run(['stop'], { stdin: '' });
      expect([unasked.code, unasked.stderr]).toEqual([
        exitCodes.usage,
        expect.stringContaining(`the daemon on work (${other.url})`),
      ]);
      expect((await run(['stop'], { tty: true, typed: ['n'] })).code).toBe(exitCodes.failed);
      expect((await run(['whoami'])).code).toBe(0);
      const stopped = await run(['stop', '--yes']);
      expect([stopped.code, stopped.stderr]).toEqual([0, expect.stringContaining('The daemon on work')]);
    } finally {
      await other.stop();
    }
  });

  test("do not affect this machine's own login", async () => {
    const { code, stderr } = await runCli(['logout'], { env: { GATEWAY_HOME: local.home } });
    expect([code, stderr]).toEqual([1, expect.stringContaining('needs no login')]);
    expect((await runCli(['whoami', '--quiet'], { env: { GATEWAY_HOME: local.home } })).stdout).toBe(
      'owner\n',
    );
  });

  test('show which key is in use', async () => {
    const env = { GATEWAY_HOME: await temporaryHome(), GATEWAY_HOST: remote.url, GATEWAY_KEY: remote.key };
    const { stdout } = await runCli(['whoami', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ url: remote.url, key: { name: 'default' } });
  });
});

describe('workspaces', () => {
  test('are created, joined, used and left from the command line', async () => {
    const [ann, max] = [await loggedIn(), await loggedIn()];
    const made = await ann.run(['workspaces', 'create', 'Research Lab', '--use', '--json']);
    const { id, slug } = JSON.parse(made.stdout);
    expect((await ann.run(['whoami', '--jq', '.workspace.slug'])).stdout).toBe(`${slug}\n`);
    const invited = await ann.run([
      'workspaces',
      'invite',
      '--role',
      'admin',
      '--note',
      'for Max',
      '--quiet',
    ]);
    expect(invited.stdout).toMatch(/^(\w{5}-){3}\w{5}\n$/);
    const accepted = await max.run(['workspaces', 'accept', '--use'], { stdin: invited.stdout });
    expect(accepted.code).toBe(0);
    expect((await max.run(['workspaces', 'accept'], { stdin: invited.stdout })).code).toBe(1);
    const members = (await max.run(['workspaces', 'members'])).stdout.trim().split('\n');
    expect(members.map((line) => line.split('\t').slice(1, 4))).toEqual([
      [ann.handle, ann.handle, 'owner'],
      [max.handle, max.handle, 'admin'],
    ]);
    const key = JSON.parse((await max.run(['keys', 'issue', '--json'])).stdout).key;
    expect(key.workspace).toBe(id);
    expect((await ann.run(['workspaces', 'role', max.handle, 'member'])).code).toBe(0);
    expect((await max.run(['keys', 'issue'])).code).toBe(exitCodes.refused);
    await ann.run(['workspaces', 'set', '--members-may-issue-keys', 'yes']);
    expect((await max.run(['keys', 'issue', '--quiet'])).stdout).toMatch(/^gwk_/);
    expect((await ann.run(['workspaces', 'invitations'])).stdout).toContain('accepted');
    expect((await max.run(['workspaces', 'leave', slug, '--yes'])).code).toBe(0);
    expect((await max.run(['whoami', '--jq', '.workspace.slug'])).stdout).toBe(`${max.handle}\n`);
    const keys = JSON.parse((await ann.run(['keys', 'list', '--json'])).stdout);
    const annId = JSON.parse((await ann.run(['whoami', '--json'])).stdout).user.id;
    expect(new Set(keys.map(({ owner }: { owner: string }) => owner))).toEqual(new Set([annId]));
    expect((await ann.run(['workspaces', 'leave', slug, '--yes'])).code).toBe(1);
  });

  test('can be set by the environment, and a lost one is reported', async () => {
    const [ann, max] = [await loggedIn(), await loggedIn()];
    const { stdout } = await ann.run(['workspaces', 'create', 'Shared', '--jq', '.slug']);
    const slug = stdout.trim();
    const code = (await ann.run(['workspaces', 'invite', '--workspace', slug, '--quiet'])).stdout;
    await max.run(['workspaces', 'accept', '--use'], { stdin: code });
    const env = { ...ann.env, GATEWAY_WORKSPACE: slug };
    expect((await ann.run(['whoami', '--jq', '.workspace.slug'], { env })).stdout).toBe(stdout);
    expect((await ann.run(['workspaces', 'remove', max.handle, '--workspace', slug, '--yes'])).code).toBe(0);
    const lost = await max.run(['keys', 'list']);
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('gateway workspaces use me')]);
    expect((await max.run(['workspaces'])).stdout).toContain(max.handle);
    expect((await max.run(['workspaces', 'use', 'me'])).code).toBe(0);
    expect((await max.run(['keys', 'list'])).code).toBe(0);
  });

  test("refuse what only the host's admin may do", async () => {
    const { run } = await loggedIn();
    expect((await run(['users', 'add', 'intruder'])).code).toBe(exitCodes.refused);
    expect((await run(['users'])).code).toBe(exitCodes.refused);
    const status = await run(['status']);
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining(`url\t${remote.url}\n`)]);
    expect(status.stdout).not.toMatch(/^(pid|data_dir)\t/m);
    expect((await run(['doctor'])).stdout).toMatch(/^ok\tdaemon\t.*only to its admin\t$/m);
    const operator = { env: { GATEWAY_HOME: remote.home } };
    expect((await runCli(['users'], operator)).stdout).toMatch(/\towner\tOwner\t/);
    expect((await runCli(['users', 'add', 'owner'], operator)).code).toBe(1);
  });
});

test('a model is found for users who may not see the default', async () => {
  const { run } = await loggedIn();
  expect(await run(['respond', 'Hi.', '--quiet'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('simulator'),
  });
  const env = { GATEWAY_HOME: await temporaryHome(), GATEWAY_HOST: remote.url, GATEWAY_KEY: remote.key };
  expect((await runCli(['respond', 'Hi.', '--json=model'], { env })).stdout).toContain('sim/assistant');
});

describe('a process of its own', () => {
  test('logs in, works and logs out with a temporary home', async () => {
    const home = await mkdtemp(join(tmpdir(), 'gateway-cli-'));
    const env = { GATEWAY_HOME: home };
    const { handle, link } = await newUser();
    try {
      expect(await runCliChild(['login', ...file], { env, stdin: `${link}\n` })).toMatchObject({ code: 0 });
      expect(await runCliChild(['whoami', '--quiet'], { env })).toMatchObject({
        code: 0,
        stdout: `${handle}\n`,
      });
      const answer = await runCliChild(['respond', '--model', 'sim/echo', 'Hi.'], { env });
      expect(answer).toMatchObject({ code: 0, stdout: 'Hi.\n' });
      expect(await runCliChild(['logout'], { env })).toMatchObject({ code: 0, stdout: '' });
      expect(await runCliChild(['whoami'], { env })).toMatchObject({ code: exitCodes.signIn });
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe.skipIf(noSecretService !== undefined)('the keychain', () => {
  let service: SecretService;
  beforeAll(async () => {
    service = await startSecretService();
  });
  afterAll(async () => {
    await service.close();
  });

  test('has the login of a remote host in memory, and no file has it', async () => {
    await service.start('unlocked');
    const home = await temporaryHome();
    const env = { ...service.env, GATEWAY_HOME: home };
    const { handle, code } = await newUser();
    expect(await runCli(['login', remote.url], { env, stdin: code })).toMatchObject({ code: 0 });
    expect((await runCli(['whoami', '--quiet'], { env })).stdout).toBe(`${handle}\n`);
    expect(textOf(home)).not.toContain('gwl_');
    await service.start('locked');
    const locked = await runCli(['whoami'], { env });
    expect(locked.code).not.toBe(0);
    expect(locked.stderr).toMatch(/locked/);
    expect(locked.stderr).not.toContain('gwl_');
    await service.start('unlocked');
    expect(await runCli(['logout'], { env })).toMatchObject({ code: 0 });
    expect((await runCli(['whoami'], { env })).code).toBe(exitCodes.signIn);
  });
});
