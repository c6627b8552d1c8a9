import { describe, expect, test } from 'vitest';
import { isNoun } from '../../../src/cli/manifest/entry.ts';
import { locate } from '../../../src/cli/manifest/locate.ts';
import { manifest } from '../../../src/cli/manifest/manifest.ts';
import { commandNames, underOtherName, verbs } from '../../../src/cli/manifest/other-names.ts';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';

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
  ])('is suggested for gateway %s: %s', (line, use) => {
    expect(useFor(line)).toBe(use);
  });

  test.each(['nonsense', 'keys nonsense', 'keys lst', 'constructor', 'keys constructor', 'ledger delete'])(
    'is not guessed for gateway %s',
    (line) => {
      expect(useFor(line)).toBeUndefined();
    },
  );

  test('is suggested with the exit code of a wrong use, also for its help', async () => {
    const stderr = "error: unknown command 'create'\n  next    Use gateway keys issue.\n";
    const failed = { code: exitCodes.usage, stdout: '', stderr };
    expect(await runCli(['keys', 'create', '--name', 'app'])).toEqual(failed);
    expect(await runCli(['help', 'keys', 'create'])).toEqual(failed);
  });
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
