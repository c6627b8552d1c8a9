import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { commandReference, commandSamplesFile, commandSamplesSource } from '../support/command-reference.ts';

test('the command reference matches the program (update it with: npm run docs)', async () => {
  expect(await readFile('docs/commands.md', 'utf8')).toBe(await commandReference());
});

test('the commands in the API reference match the program (update them with: npm run docs)', async () => {
  expect(await readFile(commandSamplesFile, 'utf8')).toBe(await commandSamplesSource());
});
