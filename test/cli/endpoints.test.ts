import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { endpointsFile, endpointsSource } from '../support/endpoints-source.ts';

test('the generated endpoints match the contracts', async () => {
  expect(await readFile(endpointsFile, 'utf8'), 'run: npm run endpoints').toBe(await endpointsSource());
});
