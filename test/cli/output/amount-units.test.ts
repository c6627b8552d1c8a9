import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('columns of amounts are in millisatoshis, as rows in a pipe have no titles', () => {
  const titles = globSync('src/cli/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/title: '(\w*sats)'/g)].map(([, title = '']) => title),
  );
  expect(titles.length).toBeGreaterThan(8);
  expect(titles.filter((title) => !title.endsWith('_msats'))).toEqual([]);
});
