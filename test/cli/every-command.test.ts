import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNoun } from '../../src/cli/manifest/entry.ts';
import { manifest } from '../../src/cli/manifest/manifest.ts';
import { codeOf, colour, startCommandDaemon } from '../support/command-daemon.ts';
import { apart, commandLines } from '../support/command-lines.ts';

let commands: Awaited<ReturnType<typeof startCommandDaemon>>;

beforeAll(async () => {
  commands = await startCommandDaemon();
});

afterAll(async () => {
  await commands.daemon.stop();
});

test('every command is tested against the rules of output, or has its own tests', () => {
  const names = Object.entries(manifest).flatMap(([name, entry]) =>
    isNoun(entry) ? Object.keys(entry.verbs).map((verb) => `${name} ${verb}`) : [name],
  );
  const held = [...Object.keys(commandLines), ...apart];
  const where = 'give it a line in test/support/command-lines.ts';
  expect(held.toSorted(), where).toEqual(names.toSorted());
});

describe.each(Object.entries(commandLines))('%s', (name, { isText }) => {
  test('prints JSON', async () => {
    const { code, stdout } = await commands.call(name, ['--json']);
    expect(code).toBe(codeOf(name));
    expect(stdout).toMatch(/^.+\n$/);
    expect(JSON.parse(stdout)).toBeTypeOf('object');
  });

  test('prints tab-separated rows into a pipe, without colours or messages', async () => {
    const { code, stdout } = await commands.call(name);
    expect(code).toBe(codeOf(name));
    expect(stdout).not.toMatch(colour);
    if (isText) return;
    const rows = stdout.split('\n').map((row) => row.split('\t'));
    expect(rows.pop()).toEqual(['']);
    expect(rows.flat()).not.toContain('yes');
    expect(rows.flat()).not.toContain('no');
    expect(new Set(rows.map((row) => row.length)).size).toBeLessThanOrEqual(1);
  });
});
