import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/shared/errors.ts';
import { codeOf, colour, startCommandDaemon } from '../support/command-daemon.ts';
import { commandLines } from '../support/command-lines.ts';

let commands: Awaited<ReturnType<typeof startCommandDaemon>>;

beforeAll(async () => {
  commands = await startCommandDaemon();
});

afterAll(async () => {
  await commands.daemon.stop();
});

/** Commands whose JSON has names in camel case: those of the site's own API, and of schemas. */
const hasOtherNames =
  /^(autopilots|chats|config schema|invoice|openapi|pay|payments|paywalls|profile|shouts|tokens|wallet|whispers)\b/;

/** The names of all members of a value. */
const namesIn = (value: unknown): Set<string> => {
  const names = new Set<string>();
  JSON.stringify(value, (name, member) => {
    names.add(name);
    return member;
  });
  return names;
};

/** Nothing listens at the other end of this address. */
const nowhere = 'http://127.0.0.1:9';

test('colours are disabled by a flag and by the usual variables', async () => {
  const look = (args: string[], env: Record<string, string> = {}) =>
    commands.run(['keys', 'list', ...args], { tty: true, env });
  expect((await look([])).stdout).toMatch(colour);
  const disabled = [look(['--no-color']), look([], { CI: 'true' }), look([], { TERM: 'dumb' })];
  for (const { code, stdout } of await Promise.all(disabled)) {
    expect(code).toBe(exitCodes.done);
    expect(stdout).not.toMatch(colour);
  }
});

describe.each(Object.entries(commandLines))('%s', (name, { isText, isLocal }) => {
  const call = (more: string[], options = {}) => commands.call(name, more, options);
  let fail: ReturnType<typeof commands.failing>;
  beforeAll(() => {
    fail = commands.failing(name);
  });

  test('prints selected fields of its JSON, and the output of jq', async () => {
    const value = JSON.parse((await call(['--json'])).stdout);
    const [field = 'none'] = Object.keys((Array.isArray(value) ? value[0] : value) ?? {});
    const picked = JSON.parse((await call([`--json=${field}`])).stdout);
    for (const one of [picked].flat()) expect(Object.keys(one)).toEqual([field]);
    if (!hasOtherNames.test(name))
      expect([...namesIn(value)].filter((member) => /[A-Z]/.test(member))).toEqual([]);
    const filtered = await call(['--jq', 'type']);
    expect(filtered.stdout).toBe(Array.isArray(value) ? 'array\n' : 'object\n');
  });

  test('prints only ids or secrets with --quiet', async () => {
    const { stdout, stderr } = await call(['--quiet']);
    expect(stderr).toBe('');
    if (!isText) expect(stdout).toMatch(/^([^\t\n]+\n)*$/);
  });

  test('has no colours when they are disabled', async () => {
    const { code, stdout, stderr } = await call([], { tty: true, env: { NO_COLOR: '1' } });
    expect([code, stderr]).toEqual([codeOf(name), stderr]);
    expect(stdout + stderr).not.toMatch(colour);
  });

  test('rejects an unknown option', async () => {
    const { code, stdout, stderr } = await fail(['--nonsense']);
    expect({ code, stdout }).toEqual({ code: exitCodes.usage, stdout: '' });
    expect(stderr).toBe(`error: unknown option '--nonsense'\nSee gateway ${name} --help.\n`);
  });

  // A command that asks no daemon has nothing to say of one.
  if (isLocal) return;

  test('suggests what to do when nothing is listening', async () => {
    const key = commands.daemon.key;
    const { code, stdout, stderr } = await fail([], { GATEWAY_HOST: nowhere, GATEWAY_KEY: key });
    expect({ code, stdout }).toEqual({ code: exitCodes.tryLater, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n(?: {2}.+\n)* {2}next +.+\n$/);
  });

  test('suggests what to do with an invalid key', async () => {
    const env = { GATEWAY_HOST: commands.daemon.url, GATEWAY_KEY: 'gwk_none' };
    const { code, stdout, stderr } = await fail([], env);
    expect({ code, stdout }).toEqual({ code: exitCodes.signIn, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n(?: {2}.+\n)* {2}request +req_.+\n {2}next +.+\n$/);
  });
});
