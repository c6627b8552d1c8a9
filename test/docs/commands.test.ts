import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commandReference } from '../support/command-reference.ts';

test('the command reference matches the program (update it with: npm run docs)', async () => {
  expect(await readFile('docs/commands.md', 'utf8')).toBe(await commandReference());
});
