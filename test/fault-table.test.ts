import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plantedFaults } from './support/fault-table.ts';

test.each(plantedFaults)('what $path lacks with its planted fault is there once', ({ path, text }) => {
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  expect(source.split(text), 'change it in test/support/fault-table.ts').toHaveLength(2);
});
