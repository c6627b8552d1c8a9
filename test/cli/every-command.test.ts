import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNoun } from '../../src/cli/manifest/entry.ts';
import { manifest } from '../../src/cli/manifest/manifest.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { apart, commandLines } from '../support/command-lines.ts';
import { ownKeysConfig } from '../support/daemon-with-stranger.ts';
import { type RunOptions, runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson } from '../support/users.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon({ config: ownKeysConfig });
  await addPerson(daemon, 'ann');
  await run(['provider-keys', 'set', 'openai'], { stdin: 'sk-example-0123456789abcdef' });
});

afterAll(async () => {
  await daemon.stop();
});

const run = (args: string[], options: RunOptions = {}) =>
  runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home, ...options.env } });

/** What a path like `.key.id` selects in the JSON of a command, without jq, which takes longer than the command. */
async function get(args: string[], path: string, options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run([...args, '--json'], options);
  expect([code, stderr]).toEqual([exitCodes.done, stderr]);
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any command.
  return path.match(/\w+/g)?.reduce((value: any, key) => value[key], JSON.parse(stdout));
}

/** Nothing listens at the other end of this address. */
const nowhere = 'http://127.0.0.1:9';
// Checking an unreachable provider prints a result and sets the exit code.
const codeOf = (name: string) =>
  ['provider-keys check', 'peer check', 'alerts test'].includes(name) ? exitCodes.tryLater : exitCodes.done;
const escapeCode = '\u001b';
const colour = new RegExp(`${escapeCode}\\[[\\d;]*m`);

test('every command is tested against the rules of output, or has its own tests', () => {
  const commands = Object.entries(manifest).flatMap(([name, entry]) =>
    isNoun(entry) ? Object.keys(entry.verbs).map((verb) => `${name} ${verb}`) : [name],
  );
  const held = [...Object.keys(commandLines), ...apart];
  const where = 'give it a line in test/support/command-lines.ts';
  expect(held.toSorted(), where).toEqual(commands.toSorted());
});

test('colours are disabled by a flag and by the usual variables', async () => {
  const look = (args: string[], env: Record<string, string> = {}) =>
    run(['keys', 'list', ...args], { tty: true, env });
  expect((await look([])).stdout).toMatch(colour);
  const disabled = [look(['--no-color']), look([], { CI: 'true' }), look([], { TERM: 'dumb' })];
  for (const { code, stdout } of await Promise.all(disabled)) {
    expect(code).toBe(exitCodes.done);
    expect(stdout).not.toMatch(colour);
  }
});

describe.each(Object.entries(commandLines))('%s', (name, { make, isText, isLocal }) => {
  const call = async (more: string[] = [], options: RunOptions = {}) => {
    const { args, options: own } = await make(get);
    return await run([...args, ...more], { ...own, ...options });
  };
  let line: ReturnType<typeof make> | undefined;
  /** A call that fails before it changes anything. */
  const fail = async (more: string[], env?: Record<string, string>) => {
    line ??= make(get);
    const { args, options } = await line;
    return await run([...args, ...more], { ...options, ...(env && { env }) });
  };

  test('prints JSON, selected fields, and the output of jq', async () => {
    const { code, stdout } = await call(['--json']);
    expect(code).toBe(codeOf(name));
    expect(stdout).toMatch(/^.+\n$/);
    const value = JSON.parse(stdout) as Record<string, unknown> | Record<string, unknown>[];
    const [field = 'none'] = Object.keys((Array.isArray(value) ? value[0] : value) ?? {});
    const picked = JSON.parse((await call([`--json=${field}`])).stdout);
    for (const one of [picked].flat()) expect(Object.keys(one)).toEqual([field]);
    const filtered = await call(['--jq', 'type']);
    expect(filtered.stdout).toBe(Array.isArray(value) ? 'array\n' : 'object\n');
  });

  test('prints tab-separated rows into a pipe, without colours or messages', async () => {
    const { code, stdout } = await call();
    expect(code).toBe(codeOf(name));
    expect(stdout).not.toContain(escapeCode);
    if (isText) return;
    const rows = stdout.split('\n').map((row) => row.split('\t'));
    expect(rows.pop()).toEqual(['']);
    expect(rows.flat()).not.toContain('yes');
    expect(rows.flat()).not.toContain('no');
    expect(new Set(rows.map((row) => row.length)).size).toBeLessThanOrEqual(1);
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
    const { code, stdout, stderr } = await fail([], { GATEWAY_HOST: nowhere, GATEWAY_KEY: daemon.key });
    expect({ code, stdout }).toEqual({ code: exitCodes.tryLater, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n(?: {2}.+\n)* {2}next +.+\n$/);
  });

  test('suggests what to do with an invalid key', async () => {
    const env = { GATEWAY_HOST: daemon.url, GATEWAY_KEY: 'gwk_none' };
    const { code, stdout, stderr } = await fail([], env);
    expect({ code, stdout }).toEqual({ code: exitCodes.signIn, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n(?: {2}.+\n)* {2}request +req_.+\n {2}next +.+\n$/);
  });
});
