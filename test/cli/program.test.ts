import { describe, expect, test } from 'vitest';
import { isNoun } from '../../src/cli/manifest/entry.ts';
import { locate } from '../../src/cli/manifest/locate.ts';
import { manifest } from '../../src/cli/manifest/manifest.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { version } from '../../src/shared/version.ts';
import { runCli, temporaryHome } from '../support/run-cli.ts';

const commandLines = Object.entries(manifest).flatMap(([name, entry]) =>
  isNoun(entry) ? Object.keys(entry.verbs).map((verb) => [name, verb]) : [[name]],
);

describe('gateway alone', () => {
  test('in a pipe prints a few lines', async () => {
    const { code, stdout, stderr } = await runCli([], { env: { GATEWAY_HOME: await temporaryHome() } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('The daemon is not running. Start it: gateway serve\nAll commands: gateway --help\n');
  });

  test('on a terminal offers to start the daemon, and takes anything but yes as no', async () => {
    for (const answer of ['', 'n', 'nope']) {
      const env = { GATEWAY_HOME: await temporaryHome() };
      const { code, stdout, stderr } = await runCli([], { env, tty: true, typed: [answer] });
      expect(code).toBe(0);
      expect(stdout).toContain('gateway login URL');
      expect(stderr).toBe('Start it in the background now? [y/N] ');
    }
  });
});

test('on a terminal without its errors, gateway alone asks nothing', async () => {
  const env = { GATEWAY_HOME: await temporaryHome() };
  const result = await runCli([], { env, tty: { stdout: true }, typed: ['y'] });
  expect(result).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('gateway serve') });
});

test('an invalid argument is named by what it should be', async () => {
  const { code, stderr } = await runCli(['provider-keys', 'set', 'nosuch']);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toMatch(/^error: invalid provider 'nosuch'\. Allowed choices are openai, /);
});

test('fields after a space are named as such where they were read as an argument', async () => {
  const { code, stderr } = await runCli(['chats', 'runs', 'th_1', '--json', 'id,status']);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toMatch(/^error: too many arguments .*\nFields follow an equals sign: --json=id,name\n/);
});

describe('help', () => {
  test.each([[['--help']], [['help']]])('of %j lists every command on stdout', async (args) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of Object.keys(manifest)) expect(stdout).toContain(`\n  ${name} `);
  });

  test.each(commandLines)('of "%s %s" has one example', async (...words) => {
    const command = words.filter((word) => typeof word === 'string');
    const { code, stdout } = await runCli([...command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`\\$ .*gateway ${command.join(' ')}\\b`));
  });

  test('of a noun alone lists its verbs', async () => {
    const { code, stdout } = await runCli(['agents']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Commands:\n {2}sign-up .*me /s);
  });

  test('of a noun with a default verb needs --help', async () => {
    const { code, stdout } = await runCli(['models', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/list .*show /s);
  });

  test.each([
    ['decide', 'ask', ['--choice', '--threshold', '--ndjson']],
    ['calls', 'list', ['--status', '--since', '--csv']],
  ])('of %s has the options of %s, which it stands for', async (noun, verb, options) => {
    const { stdout } = await runCli([noun, '--help']);
    expect(stdout).toContain(`Options of ${verb}, the default:`);
    for (const option of options) expect(stdout).toContain(`  ${option} `);
  });

  test('fits a narrow terminal', async () => {
    const { stdout } = await runCli(['respond', '--help'], { columns: 60 });
    const [, body = ''] = stdout.split('Options:');
    const [options = ''] = body.split('Example:');
    for (const line of options.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });

  test("lists a command's own options first", async () => {
    const { stdout } = await runCli(['models', 'list', '--help']);
    expect(stdout).toMatch(/\nOptions:\n.*--all .*\nCommon options:\n.*-h, --help/s);
    expect(stdout).not.toContain('default: false');
  });

  test('is the same with help or --help', async () => {
    expect(await runCli(['help', 'keys', 'issue'])).toEqual(await runCli(['keys', 'issue', '--help']));
  });

  test('of exit-codes lists every code', async () => {
    const { stdout } = await runCli(['help', 'exit-codes']);
    for (const code of Object.values(exitCodes)) expect(stdout).toMatch(new RegExp(`^ +${code}  \\w`, 'm'));
  });
});

test('--version prints the version', async () => {
  expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('version suggests --version and status', async () => {
  const { code, stderr } = await runCli(['version']);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toBe(
    "error: unknown command 'version'\n  next    Use gateway --version; for the version of the daemon, use gateway status.\n",
  );
});

test('alone on a terminal without a daemon, it says how to start one', async () => {
  const env = { GATEWAY_HOME: await temporaryHome() };
  const { code, stdout } = await runCli([], { env, tty: true });
  expect(code).toBe(exitCodes.done);
  expect(stdout).toContain('gateway serve');
  expect(stdout.split('\n').length).toBeLessThan(10);
});

test('restore reports a missing file before it asks for --yes', async () => {
  const env = { GATEWAY_HOME: await temporaryHome() };
  const { code, stderr } = await runCli(['restore', 'missing.db'], { env });
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toBe('error: The file missing.db does not exist.\n');
});

test.each([
  [['nonsense'], "unknown command 'nonsense'"],
  [['help', 'nonsense'], "unknown command 'nonsense'"],
  [['nonsense', '--help'], "unknown command 'nonsense'"],
  [['keys', 'lst'], 'Did you mean list?'],
  [['keys', 'lst', '--help'], "unknown command 'lst'"],
  [['keys', 'list', '--nonsense'], "unknown option '--nonsense'"],
  [['keys', 'issue', '--scope', 'everything'], 'Allowed choices'],
  [['keys', 'revoke'], "missing required argument 'key'"],
  [['keys', 'list', '--limit', 'many'], 'whole number'],
  [['serve', '--log-level', 'loud'], 'Allowed choices'],
  [['serve', '--host', ''], '--host is empty'],
  [['serve', '--data', ' '], '--data is empty'],
  [['serve', '--socket='], '--socket is empty'],
  [['serve', '--replay-speed', 'real'], '--replay-speed requires --replay'],
  [['models', 'sim/echo'], "unknown command 'sim/echo'"],
  [['usage', 'req_1', '--model', 'sim/echo'], '--model cannot be combined with the id of a call'],
  [['traces', 'req_1', '--since', '2026-11-01'], "unknown option '--since'"],
])('%j is a usage error: exit code 2', async (args, sentence) => {
  const { code, stdout, stderr } = await runCli(args);
  expect(code).toBe(exitCodes.usage);
  expect(stdout).toBe('');
  expect(stderr).toContain(sentence);
});

test.each([
  ['--json', 'models', 'list'],
  ['models', '--json', 'list'],
  ['models', '--host', 'list', '--json', 'list'],
  ['models', 'list', '--json'],
  ['models', '--json'],
])('a common flag may come anywhere: %s %s %s', async (...args) => {
  const { words, rest, command } = locate(args);
  expect({ words, summary: command?.summary }).toEqual({
    words: ['models', 'list'],
    summary: 'List models and their prices.',
  });
  expect(rest).toContain('--json');
});

test.each([
  ['traces status:failed', 'calls list'],
  ['traces >4s', 'calls list'],
  ['traces req_01m8', 'calls show'],
  ['usage req_01m8', 'usage show'],
])('gateway %s stands for gateway %s', (line, command) => {
  expect(locate(line.split(' ')).words.join(' ')).toBe(command);
});

test('a noun with a list stands for it', () => {
  for (const [name, entry] of Object.entries(manifest)) {
    if (isNoun(entry) && 'list' in entry.verbs) expect(entry.alone, name).toBe('list');
  }
});

test('the value of a flag may be the name of a verb', () => {
  expect(locate(['models', '--match', 'show'])).toMatchObject({
    words: ['models', 'list'],
    rest: ['--match', 'show'],
  });
});

test('serve passes its options to the daemon and returns its exit code', async () => {
  const seen: unknown[] = [];
  const { code, stdout } = await runCli(
    ['serve', '--port', '0', '--host', '127.0.0.2', '--data', '/d', '--config', '/c', '--log-level', 'info'],
    {
      env: { SOME: 'thing' },
      serve: async ({ stdout: out, stderr: _err, ...options }) => {
        seen.push(options);
        out.write('listening\n');
        return 78;
      },
    },
  );
  expect({ code, stdout }).toEqual({ code: 78, stdout: 'listening\n' });
  expect(seen[0]).toMatchObject({
    port: 0,
    host: '127.0.0.2',
    dataFolder: '/d',
    configFile: '/c',
    logLevel: 'info',
    env: { SOME: 'thing' },
  });
});
