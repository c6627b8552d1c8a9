import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { namesOf } from '../../../src/view/key-names.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addMember, addPerson } from '../../support/users.ts';

let daemon: RunningDaemon;
/** Key ids by name. */
const keys: Record<string, string> = {};

const run = (line: string[], options: { tty?: true; columns?: number } = {}) =>
  runCli(line, { env: { GATEWAY_HOME: daemon.home, NO_COLOR: '1' }, ...options });

async function json<T>(...line: string[]): Promise<T> {
  const { stdout } = await run([...line, '--json']);
  return JSON.parse(stdout) as T;
}

async function issue(name: string): Promise<string> {
  const { key, secret } = await json<{ key: { id: string }; secret: string }>(
    'keys',
    'issue',
    '--name',
    name,
  );
  keys[name] = key.id;
  const headers = { authorization: `Bearer ${secret}` };
  await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Hello', store: false }, headers });
  return key.id;
}

beforeAll(async () => {
  daemon = await startDaemon();
  await issue('ci');
  await issue('old');
  await run(['keys', 'revoke', 'old', '--yes']);
  await run(['workspaces', 'create', 'Research', '--slug', 'lab']);
  for (const slug of ['one', 'two']) await run(['workspaces', 'create', 'Twice', '--slug', slug]);
  await addMember(daemon, 'personal', await addPerson(daemon, 'ann'), 'member');
});

afterAll(() => daemon.stop());

describe('keys are shown by name', () => {
  test.each([
    [['usage', '--group-by', 'key'], /^old \(revoked\) +1 /m],
    [['usage', '--group-by', 'key'], /^ci +1 /m],
    [['traces'], /^req_\w+ +(just now|\d+ minutes? ago) +completed +sim\/echo +old \(revoked\) /m],
    [
      ['traces', '--key', 'old'],
      /^req_\w+ +(just now|\d+ minutes? ago) +completed +sim\/echo +old \(revoked\) /m,
    ],
  ])('%j', async (line, wanted) => {
    expect((await run(line, { tty: true, columns: 120 })).stdout).toMatch(wanted);
  });

  test('of one request, too', async () => {
    const [trace] = await json<{ request_id: string }[]>('traces', '--key', 'ci');
    const request = trace?.request_id ?? '';
    for (const noun of ['usage', 'traces']) {
      expect((await run([noun, request], { tty: true })).stdout).toMatch(/^key +ci$/m);
      expect((await run([noun, request])).stdout).toMatch(new RegExp(`^key\t${keys.ci}$`, 'm'));
    }
  });

  test('with the end of the id where two keys in use have one name', async () => {
    const ids = [await issue('twin'), await issue('twin')];
    const { stdout } = await run(['usage', '--group-by', 'key'], { tty: true });
    for (const id of ids) expect(stdout).toContain(`twin (…${id.slice(-4)}) `);
  });

  test('and where two logins have one name', () => {
    const logins = ['key_aaaa', 'key_bbbb'].map((id) => ({ id, name: 'laptop' }));
    const names = namesOf([], [...logins, { id: 'key_cccc', name: 'desk' }]);
    expect([...names.values()]).toEqual(['login laptop (…aaaa)', 'login laptop (…bbbb)', 'login desk']);
  });
});

test.each([130, 100, 80, 60])('a list of requests keeps the time on %i columns', async (columns) => {
  const { stdout } = await run(['traces'], { tty: true, columns });
  expect(stdout).toMatch(columns > 60 ? /^REQUEST ID +ENDED +STATUS +MODEL/ : /^REQUEST ID +ENDED +STATUS/);
  expect(stdout).toMatch(/^req_\w+ +(just now|\d+ min)/m);
  if (columns >= 100) expect(stdout).toMatch(/^REQUEST ID.* KEY/);
});

describe('names are accepted where ids are', () => {
  test.each([
    [['credit', 'grant', 'Research', '3'], 'granted_usd\t3'],
    [['credit', 'show', 'research'], '\tlab\t'],
    [['workspaces', 'show', 'Research'], 'slug\tlab'],
    [['keys', 'issue', '--workspace', 'Research', '--name', 'x'], 'gwk_'],
    [['cache', 'show', '--workspace', 'RESEARCH'], 'entries\t0'],
    [['usage', '--key', 'ci', '--model', 'echo'], '\t1\t'],
    [['users', 'login-code', 'Ann'], 'ann\t'],
    [['workspaces', 'role', 'Ann', 'admin'], 'role\tadmin'],
  ])('%j', async (line, wanted) => {
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining(wanted), expect.anything()]);
  });

  test('of threads, autopilots, access tokens and logins', async () => {
    await run(['threads', 'create', 'Trip to Rome']);
    expect((await run(['respond', 'Hi', '--model', 'sim/echo', '--thread', 'Trip to Rome'])).code).toBe(0);
    expect((await run(['threads', 'show', 'trip to rome'])).stdout).toContain('user\tHi');
    await run(['threads', 'rename', 'Trip to Rome', 'Rome']);
    expect((await run(['threads', 'delete', 'Rome', '--yes'])).code).toBe(0);
    await run(['autopilots', 'create', 'Night Watch', '--handle', 'night']);
    expect((await run(['autopilots', 'show', 'Night Watch', '--quiet'])).stdout).toBe('night\n');
    await run(['tokens', 'create', 'bot']);
    expect((await run(['tokens', 'revoke', 'bot', '--yes'])).code).toBe(0);
    expect((await run(['tokens', 'list'])).stdout).not.toContain('bot');
  });

  test.each([
    ['keys revoke', ['keys', 'issue', '--name', 'Unsure']],
    ['tokens revoke', ['tokens', 'create', 'Unsure']],
    ['threads delete', ['threads', 'create', 'Unsure']],
    ['autopilots archive', ['autopilots', 'create', 'Unsure', '--handle', 'unsure']],
  ])('which %s asks about, with the id', async (command, create) => {
    await run(create);
    const { code, stderr } = await run([...command.split(' '), 'Unsure']);
    expect(code).toBe(exitCodes.usage);
    expect(stderr).toMatch(
      /^error: (Revoke|Delete|Archive) Unsure \(\w+\)[ ?].* Confirmation is required\.\n/,
    );
  });

  test('and what is done names it, too', async () => {
    await run(['keys', 'issue', '--name', 'Gone']);
    const { stderr } = await run(['keys', 'revoke', 'Gone', '--yes']);
    expect(stderr).toMatch(/^Revoked Gone \(key_\w+\)\.\n$/);
  });

  test('and an ambiguous one lists the ids', async () => {
    const rows = await json<{ id: string; name: string }[]>('workspaces', 'list');
    const ids = rows.filter(({ name }) => name === 'Twice').map(({ id }) => id);
    for (const line of [
      ['credit', 'grant', 'Twice', '3'],
      ['workspaces', 'show', 'Twice'],
    ]) {
      const { code, stderr } = await run(line);
      expect(code).toBe(exitCodes.failed);
      expect(stderr).toContain('2 workspaces are named "Twice": ');
      for (const id of ids) expect(stderr).toContain(id);
    }
    expect((await run(['workspaces', 'show', 'two', '--quiet'])).stdout).toBe('two\n');
  });

  test.each([
    [['credit', 'grant', 'Nobody', '3'], 'There is no workspace "Nobody".'],
    [['credit', 'show', 'Nobody'], 'There is no workspace "Nobody".'],
    [['workspaces', 'show', 'Nobody'], 'There is no workspace "Nobody".'],
    [['workspaces', 'role', 'nobody', 'admin'], 'There is no member "nobody".'],
    [['workspaces', 'uninvite', 'inv_1'], 'There is no open invitation "inv_1".'],
    [['users', 'login-code', 'nobody'], 'There is no user "nobody".'],
    [['sessions', 'revoke', 'nobody', '--yes'], 'There is no login "nobody".'],
    [['threads', 'show', 'Nowhere'], 'There is no thread "Nowhere".'],
    [['respond', 'Hi', '--thread', 'Nowhere'], 'There is no thread "Nowhere".'],
    [['usage', 'req_1'], 'There is no finished request "req_1".'],
    [['traces', 'show', 'req_1'], 'There is no finished request "req_1".'],
    [['keys', 'revoke', 'key_1', '--yes'], 'There is no key "key_1".'],
    [['provider-keys', 'delete', 'openai', '--yes'], 'There is no key for "openai".'],
    [['wallet', 'balance'], 'You have no wallet yet.'],
    [['traces', '--key', 'nobody'], 'No key is named "nobody".'],
  ])('and an unknown one is refused: %j', async (line, message) => {
    const { code, stderr } = await run(line);
    expect([code, stderr]).toEqual([exitCodes.failed, expect.stringContaining(message)]);
  });
});
