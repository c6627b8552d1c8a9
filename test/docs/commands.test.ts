import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { isNoun } from '../../src/cli/manifest/entry.ts';
import { manifest } from '../../src/cli/manifest/manifest.ts';
import { commandReference } from '../support/command-reference.ts';

test('the command reference matches the program (update it with: npm run docs)', async () => {
  expect(await readFile('docs/commands.md', 'utf8')).toBe(await commandReference());
});

describe('the CLI guide', async () => {
  const guide = await readFile('docs/cli.md', 'utf8');
  const [, table = ''] = /## Commands\n(.*?)\n## /s.exec(guide) ?? [];
  const named = [...table.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', ' '));

  test.each(Object.entries(manifest))('documents %s and its contents', (name, entry) => {
    const words = named.filter((it) => it.split(' ')[0] === name).flatMap((it) => it.split(/[\s[\]]+/));
    expect(words).toContain(name);
    if (isNoun(entry)) for (const verb of Object.keys(entry.verbs)) expect(words).toContain(verb);
  });
});
