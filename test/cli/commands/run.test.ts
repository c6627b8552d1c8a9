import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { shellText } from '../../../src/cli/commands/run/shell-text.ts';
import { tools } from '../../../src/cli/commands/run/tools.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { programs } from '../../support/programs.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

const run = promisify(execFile);
const { cli } = await programs();

/** Writes down how it was started, calls a model if it has an address, and ends as its first argument says. */
const fakeTool = `#!${process.execPath}
const { writeFileSync } = require('node:fs');
const { env, argv } = process;
const record = (state) => writeFileSync(env.RECORD, JSON.stringify({ env, args: argv.slice(2), state }));
const call = async () => {
  if (!env.OPENAI_API_BASE) return;
  const headers = { authorization: 'Bearer ' + env.OPENAI_API_KEY, 'content-type': 'application/json' };
  const body = { model: env.ASKED_MODEL || 'sim/echo', messages: [{ role: 'user', content: 'Hello.' }] };
  await fetch(env.OPENAI_API_BASE + '/chat/completions', { method: 'POST', headers, body: JSON.stringify(body) });
};
call().then(() => {
  if (!argv.includes('wait')) {
    record('done');
    process.exit(Number(argv.at(-1)) || 0);
  }
  process.on('SIGTERM', () => { record('terminated'); process.exit(7); });
  setInterval(() => {}, 1000);
  record('waiting');
});
`;

interface Recorded {
  env: Record<string, string>;
  args: string[];
  state: string;
}

let daemon: RunningDaemon;
let folder: string;
let record: string;

beforeAll(async () => {
  daemon = await startDaemon();
  folder = await mkdtemp(join(tmpdir(), 'gateway-tools-'));
  record = join(folder, 'record.json');
  for (const name of ['codex', 'aider', 'opencode', 'qwen']) {
    await writeFile(join(folder, name), fakeTool);
    await chmod(join(folder, name), 0o755);
  }
});

beforeEach(() => rm(record, { force: true }));

afterAll(async () => {
  await daemon.stop();
  await rm(folder, { recursive: true });
});

const environment = () => ({ GATEWAY_HOME: daemon.home, PATH: folder, RECORD: record });
const gateway = (args: string[], options: RunOptions = {}) =>
  runCli(['run', ...args], { ...options, env: { ...environment(), ...options.env } });
const recorded = async () => JSON.parse(await readFile(record, 'utf8')) as Recorded;

interface ListedKey {
  id: string;
  name: string;
  status: string;
  limits: { spend_cap: object | null; expires_at: string | null };
}
async function keys(): Promise<ListedKey[]> {
  const response = await daemon.fetch('/v1/workspaces/me/keys', {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  return ((await response.json()) as { data: ListedKey[] }).data;
}

describe('starting a tool', () => {
  test('it calls with a key of its own, which is revoked, and its cost is reported', async () => {
    const args = ['aider', '-m', 'sim/echo', '--spend-cap', '5/day', '--', '--yes', '3'];
    const { code, stdout, stderr } = await gateway(args);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^aider: 1 call, \d+ tokens, \$0 \(sim\/echo\)$/m);
    const { env, args: given } = await recorded();
    expect(env.OPENAI_API_BASE).toBe(`${daemon.url}/v1`);
    expect(env.OPENAI_API_KEY).not.toBe(daemon.key);
    expect(given.slice(-3)).toEqual(['--no-show-model-warnings', '--yes', '3']);
    expect(given.join(' ')).toContain('--model openai/sim/echo');
    const [key] = await keys();
    expect(key).toMatchObject({
      name: 'aider',
      status: 'revoked',
      limits: { spend_cap: { usd: '5', period: 'day' }, expires_at: expect.any(String) },
    });
  });

  test('it gets no other key, by which it could call models past its limits', async () => {
    const secrets = {
      GATEWAY_KEY: daemon.login,
      GATEWAY_MASTER_KEY_FILE: '/nowhere/master',
      GATEWAY_WALLET_SECRET: 'secret',
      OPENAI_API_KEY: 'sk-mine',
      GROQ_API_KEY: 'gsk-mine',
      ANTHROPIC_AUTH_TOKEN: 'sk-ant-mine',
      BRAVE_API_KEY: 'for a search',
    };
    const args = ['aider', '-m', 'sim/echo', '--env', 'BRAVE_API_KEY', '--', '0'];
    const { code, stderr } = await gateway(args, { env: { ...secrets, EDITOR: 'vi' } });
    expect(code).toBe(0);
    const { env } = await recorded();
    expect(env).toMatchObject({ EDITOR: 'vi', BRAVE_API_KEY: 'for a search', RECORD: record });
    expect(Object.keys(env).filter((name) => name.startsWith('GATEWAY_'))).toEqual([]);
    const given = Object.values(env);
    const left = Object.values(secrets).filter((secret) => given.includes(secret));
    expect(left).toEqual([secrets.BRAVE_API_KEY]);
    expect(stderr).toContain(
      'aider does not get GROQ_API_KEY, ANTHROPIC_AUTH_TOKEN. To pass one on: --env NAME',
    );
  });

  test('says so when the tool made no calls', async () => {
    const { code, stderr } = await gateway(['qwen', '-m', 'sim/echo']);
    expect(code).toBe(0);
    expect(stderr).toContain('qwen made no model calls.');
  });

  test('says how many calls were rejected, and why', async () => {
    const { code, stderr } = await gateway(['aider', '-m', 'sim/echo'], { env: { ASKED_MODEL: 'nosuch' } });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^aider: 1 call rejected \(model_not_found\): There is no model "nosuch"\./m);
    expect(stderr).not.toContain('no model calls');
  });

  test('with an API key in GATEWAY_KEY the tool gets that key, at any host', async () => {
    const before = await keys();
    const env = { GATEWAY_KEY: daemon.key, GATEWAY_HOST: daemon.url, GATEWAY_HOME: folder };
    const { code, stderr } = await gateway(['aider', '-m', 'sim/echo'], { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^aider: \d+ calls?, /m);
    expect((await recorded()).env.OPENAI_API_KEY).toBe(daemon.key);
    expect((await keys()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const capped = await gateway(['aider', '-m', 'sim/echo', '--spend-cap', '5/day'], { env });
    expect(capped.code).toBe(exitCodes.usage);
    expect(capped.stderr).toContain('GATEWAY_KEY is an API key');
  });

  test('SIGTERM reaches the tool, whose exit code is passed on, and the key is revoked', async () => {
    const args = [cli, 'run', 'aider', '-m', 'sim/echo', '--', 'wait'];
    const child = spawn(process.execPath, args, { env: environment(), stdio: 'ignore' });
    const closed = once(child, 'close');
    const isWaiting = () =>
      recorded().then(
        ({ state }) => state === 'waiting',
        () => false,
      );
    await eventually('the tool waits', isWaiting);
    child.kill('SIGTERM');
    expect(await closed).toEqual([7, null]);
    expect((await recorded()).state).toBe('terminated');
    expect((await keys())[0]).toMatchObject({ name: 'aider', status: 'revoked' });
  });
});

describe('what cannot be started', () => {
  test.each([
    [
      'a tool that is not installed',
      ['codex'],
      { PATH: '/nonexistent' },
      exitCodes.failed,
      'npm install -g @openai/codex',
    ],
    ['no tool', [], {}, exitCodes.usage, 'claude, codex, opencode, aider, qwen'],
    ['an unknown tool', ['vim'], {}, exitCodes.usage, 'docs/clients.md'],
    ['a tool with another format', ['gemini'], {}, exitCodes.usage, 'gateway run qwen'],
    ['an unknown model', ['codex', '-m', 'sim/nothing'], {}, exitCodes.failed, 'no model'],
    ['an embedding model', ['codex', '-m', 'sim/embedding'], {}, exitCodes.usage, 'needs a chat model'],
  ])('%s', async (_, args, env, expected, sentence) => {
    const before = await keys();
    const { code, stderr } = await gateway(args, { env });
    expect([code, stderr]).toEqual([expected, expect.stringContaining(sentence)]);
    expect(await keys()).toHaveLength(before.length);
  });
});

test('--list shows where each tool is installed', async () => {
  const { stdout } = await gateway(['--list', '--json']);
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ command: 'codex', path: join(folder, 'codex') }),
  );
  const none = await gateway(['--list'], { env: { PATH: '' }, tty: true });
  expect(none.stdout).toContain('not installed');
});

describe('--print', () => {
  test('a shell that evaluates it starts the tool as gateway run does', async () => {
    await gateway(['codex', '-m', 'sim/echo']);
    const started = await recorded();
    const { stdout, stderr } = await gateway(['codex', '-m', 'sim/echo', '--print', '--shell', 'posix']);
    expect(stderr).toContain('expires in 30 days');
    await run('/bin/sh', ['-c', `${stdout}codex "two words"`], { env: environment() });
    const evaluated = await recorded();
    expect(evaluated.args).toEqual([...started.args, 'two words']);
    expect(evaluated.env.GATEWAY_API_KEY).toMatch(/^gwk_/);
    const [key] = await keys();
    expect(key).toMatchObject({ name: 'codex', status: 'active' });
  });

  test('leads every class of model of Claude Code here, and no cloud', async () => {
    const { stdout } = await gateway(['claude', '-m', 'sim/echo', '--print', '--json']);
    const { env, unset } = JSON.parse(stdout);
    for (const name of ['FABLE', 'OPUS', 'SONNET', 'HAIKU'])
      expect(env).toHaveProperty(`ANTHROPIC_DEFAULT_${name}_MODEL`, 'sim/echo');
    for (const name of ['BEDROCK', 'FOUNDRY', 'VERTEX']) expect(unset).toContain(`CLAUDE_CODE_USE_${name}`);
  });

  test('prints the settings as JSON', async () => {
    const { stdout } = await gateway(['aider', '-m', 'sim/echo', '--print', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ env: { OPENAI_API_BASE: `${daemon.url}/v1` } });
  });
});

describe('shell statements', () => {
  const odd = `it's "so" $HOME \\ \`x\``;
  const settings = { env: { A: odd }, unset: ['B'], args: ['-c', odd] };

  test('a POSIX shell reads every character as it is', async () => {
    const script = `${shellText('show', settings, 'posix')}printf '%s' "$A$B"`;
    const { stdout } = await run('/bin/sh', ['-c', script], { env: { B: 'gone' } });
    expect(stdout).toBe(odd);
  });

  test('fish and PowerShell have their own quotes', () => {
    expect(shellText('t', { env: { A: `a'b\\c` } }, 'fish')).toBe(`set -gx A 'a\\'b\\\\c'\n`);
    expect(shellText('t', { env: { A: `a'b\\c` } }, 'powershell')).toBe(`$env:A = 'a''b\\c'\n`);
    expect(shellText('t', { env: {}, unset: ['B'], args: ['-x'] }, 'fish')).toBe(
      `set -e B\nfunction t; command t '-x' $argv; end\n`,
    );
  });
});

test('no tool gets the key as an argument, where other users could see it', () => {
  const target = {
    url: 'http://127.0.0.1:4100',
    key: 'gwk_secret',
    model: 'anthropic/claude-sonnet-4-5',
    contextLength: 200_000,
    outputTokensMax: 64_000,
  };
  for (const tool of tools) {
    const { env, args = [] } = tool.settings(target);
    expect(Object.values(env).join(' '), tool.command).toContain(target.key);
    expect(args.join(' '), tool.command).not.toContain(target.key);
    expect([...args, ...Object.values(env)].join(' '), tool.command).toContain(target.model);
    expect([...args, ...Object.values(env)].join(' '), tool.command).toContain(target.url);
  }
});

test('what files of a tool’s own settings name does not win over the gateway', () => {
  const target = { url: 'http://127.0.0.1:4100', key: 'gwk_secret', model: 'm', contextLength: null };
  const settingsOf = (name: string) =>
    tools.find(({ command }) => command === name)?.settings({ ...target, outputTokensMax: null });
  const [option, json = ''] = settingsOf('claude')?.args ?? [];
  expect(option).toBe('--settings');
  expect(JSON.parse(json).env).toMatchObject({
    ANTHROPIC_BASE_URL: target.url,
    ANTHROPIC_MODEL: 'm',
    ANTHROPIC_AUTH_TOKEN: '',
    CLAUDE_CODE_USE_BEDROCK: '',
  });
  const openCode = JSON.parse(settingsOf('opencode')?.env.OPENCODE_CONFIG_CONTENT ?? '');
  expect(openCode).toMatchObject({
    enabled_providers: ['gateway'],
    agent: { build: { model: 'gateway/m' }, title: { model: 'gateway/m' } },
  });
  expect(settingsOf('aider')?.args?.join(' ')).toContain('--weak-model openai/m --editor-model openai/m');
});
