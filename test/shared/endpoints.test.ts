import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { autopilotFieldsFile, autopilotFieldsSource } from '../support/autopilot-fields-source.ts';
import { endpointsFile, endpointsSource } from '../support/endpoints-source.ts';

test('the fields of autopilots that help lists match the contract', async () => {
  expect(await readFile(autopilotFieldsFile, 'utf8'), 'run: npm run endpoints').toBe(autopilotFieldsSource());
});

test('the generated endpoints match the contracts', async () => {
  expect(await readFile(endpointsFile, 'utf8'), 'run: npm run endpoints').toBe(await endpointsSource());
});
