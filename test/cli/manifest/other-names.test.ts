import { describe, expect, test } from 'vitest';
import { tools } from '../../../src/cli/commands/run/tools.ts';
import type { Context } from '../../../src/cli/context.ts';
import { buildCommand } from '../../../src/cli/manifest/build-program.ts';
import { isNoun } from '../../../src/cli/manifest/entry.ts';
import { locate } from '../../../src/cli/manifest/locate.ts';
import { allCommands, manifest } from '../../../src/cli/manifest/manifest.ts';
import { commandNames, optionNames, underOtherName, verbs } from '../../../src/cli/manifest/other-names.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';

const context = {
  io: { stdout: { write: () => true }, stderr: { write: () => true }, columns: () => 80 },
  env: {},
} as unknown as Context;
const useFor = (line: string) => underOtherName(locate(line.split(' ')));

describe('a command that has another name', () => {
  test.each([
    ['start', 'gateway serve'],
    ['ask', 'gateway respond'],
    ['restart', 'gateway stop, then gateway serve'],
    ['keys create', 'gateway keys issue'],
    ['keys rm', 'gateway keys revoke'],
    ['keys set', 'gateway keys issue or gateway keys limits'],
    ['budgets add', 'gateway budgets set'],
    ['config list', 'gateway config get'],
    ['wallet pay', 'gateway pay'],
    ['workspaces delete', 'gateway workspaces leave'],
    ['claude', 'gateway run claude'],
    ['capture on', 'gateway capture set'],
    ['traces tail', 'gateway tail'],
    ['providers list', 'gateway providers health'],
    // With its verb, also where the noun has another name, or the other number.
    ['model list', 'gateway models list'],
    ['trace get', 'gateway calls show'],
    ['invoices list', 'gateway invoice list'],
    ['invoices pay', 'gateway pay'],
    ['hosts', 'gateway host'],
    ['api-keys', 'gateway keys'],
    ['api-keys create', 'gateway keys issue'],
    ['team ls', 'gateway workspaces list'],
    ['team Research', 'gateway workspaces'],
    ['daemon stop', 'gateway stop'],
    ['daemon run', 'gateway serve'],
    ['ask Hello', 'gateway respond'],
    ['key create', 'gateway keys issue'],
    ['key list --json', 'gateway keys list'],
    ['chat list', 'gateway chats list'],
  ])('is suggested for gateway %s: %s', (line, use) => {
    expect(useFor(line)).toBe(use);
  });

  test.each([
    'nonsense',
    'nonsense list',
    'keys nonsense',
    'keys lst',
    'keys reset',
    'constructor',
    'keys constructor',
    'constructor constructor',
    'ledger delete',
    'key nonsense',
    'key --json',
    'keys issue list',
    'run list',
    'respond list my files',
  ])('is not guessed for gateway %s', (line) => {
    expect(useFor(line)).toBeUndefined();
  });

  test('never makes a command out of one that exists', () => {
    for (const { words } of allCommands) {
      expect(underOtherName(locate(words)), words.join(' ')).toBeUndefined();
      if (words.length > 1) expect(useFor(`${words.join(' ')} list`), words.join(' ')).toBeUndefined();
    }
  });

  test('is not named together with what follows, which may be a secret', async () => {
    const { stderr } = await runCli(['api-keys', 'sk-secret']);
    expect(stderr).toBe("error: unknown command 'api-keys'\n  next    Use gateway keys.\n");
    expect((await runCli(['nonsense', 'sk-secret'])).stderr).not.toContain('sk-secret');
  });

  test.each(tools)('gateway $command is suggested with gateway run', ({ command }) => {
    expect(useFor(command)).toBe(`gateway run ${command}`);
  });

  test('is suggested with the exit code of a wrong use, also for its help', async () => {
    const stderr = "error: unknown command 'create'\n  next    Use gateway keys issue.\n";
    const failed = { code: exitCodes.usage, stdout: '', stderr };
    expect(await runCli(['keys', 'create', '--name', 'app'])).toEqual(failed);
    expect(await runCli(['help', 'keys', 'create'])).toEqual(failed);
  });
});

test('an alias runs the same commands as its noun, and no noun has its name', () => {
  const aliases = Object.entries(manifest).flatMap(([name, entry]) =>
    isNoun(entry) ? (entry.aliases ?? []).map((alias) => ({ name, alias, entry })) : [],
  );
  expect(aliases.map(({ alias, name }) => [alias, name])).toEqual([['traces', 'calls']]);
  for (const { name, alias, entry } of aliases) {
    expect(Object.hasOwn(manifest, alias)).toBe(false);
    for (const verb of [...Object.keys(entry.verbs), 'req_1', '--help', '--status'])
      expect(locate([alias, verb])).toEqual(locate([name, verb]));
  }
});

test('other names are none of commands, and what is suggested exists', () => {
  for (const [name, use] of Object.entries(commandNames)) {
    const { command, words, rest } = locate(name.split(' '));
    expect(command, name).toBeUndefined();
    expect([...words, ...rest].join(' ')).toBe(name);
    for (const [line] of use.matchAll(/gateway [a-z][a-z -]*?(?=$|[,;.]| or )/g)) {
      expect(
        locate(line.split(' ').slice(1)).command ?? manifest[line.split(' ')[1] ?? ''],
        line,
      ).toBeDefined();
    }
  }
  const known = Object.values(manifest).flatMap((entry) => (isNoun(entry) ? Object.keys(entry.verbs) : []));
  for (const { have } of verbs) expect(known).toEqual(expect.arrayContaining([...have]));
});

test.each([
  ['keys show app --output json', '--output', '--json'],
  ['keys show app --output=json', '--output', '--json'],
  ['usage --format csv', '--format', 'one of --json, --csv'],
  ['usage --by model', '--by', '--group-by'],
  ['traces --failed', '--failed', '--status'],
  ['keys issue --duration 30d', '--duration', '--expires'],
  ['respond Hello --temp 0', '--temp', '--temperature'],
  ['respond Hello --system Brief', '--system', '--instructions'],
  ['logs --tail 10', '--tail', '--lines'],
  ['traces list --last 1d', '--last', '--since'],
  ['keys revoke app -f', '-f', '--yes'],
  ['-v', '-v', '--version'],
])('gateway %s: %s is suggested as %s', async (line, option, use) => {
  const { code, stderr } = await runCli(line.split(' '));
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain(`error: unknown option '${option}'\n(Did you mean ${use}?)\n`);
});

test('a name without --name is suggested with it', async () => {
  const { code, stderr } = await runCli(['keys', 'issue', 'my-app']);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toBe(
    "error: too many arguments for 'issue'. Expected 0 arguments but got 1.\n(Did you mean --name?)\n" +
      'See gateway keys issue --help.\n',
  );
  expect((await runCli(['keys', 'list', 'my-app'])).stderr).not.toContain('--name');
});

test('an option is only suggested where it exists', async () => {
  const { stderr } = await runCli(['models', 'show', 'sim/echo', '--tail', '10']);
  expect(stderr).toMatch(/^error: unknown option '--tail'\nSee /);
  const options = new Set(['--version']);
  for (const { entry } of allCommands) {
    for (const { long } of (await buildCommand(entry, context)).options) if (long) options.add(long);
  }
  for (const names of Object.values(optionNames))
    expect([...options]).toEqual(expect.arrayContaining([...names]));
});

test('every command that takes --yes takes -y', async () => {
  for (const { words, entry } of allCommands) {
    const yes = (await buildCommand(entry, context)).options.find(({ long }) => long === '--yes');
    if (yes) expect(yes.short, words.join(' ')).toBe('-y');
  }
});
