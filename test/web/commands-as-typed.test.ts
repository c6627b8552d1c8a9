import { glob, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { manifest } from '../../src/cli/manifest/manifest.ts';

/** Where npm started the gateway, `gateway` alone is not found: the page names commands as they are typed. */
test('commands that the page names are written as they are typed', async () => {
  const command = new RegExp(`(?<!npx )\\bgateway (${Object.keys(manifest).join('|')})\\b`);
  const found: string[] = [];
  for await (const file of glob('src/web/**/*.{ts,tsx}')) {
    const text = (await readFile(file, 'utf8')).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    for (const [number, line] of text.split('\n').entries())
      if (command.test(line) && !/typed\(|<Typed>|^\s+(out_of_scope|signed_out):/.test(line))
        found.push(`${file}:${number + 1}: ${line.trim()}`);
  }
  expect(found).toEqual([]);
});
