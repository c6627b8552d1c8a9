import { readdirSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { checkContract } from '../../../src/daemon/http/input-check.ts';
import type { Endpoint } from '../../../src/shared/contract/endpoint.ts';
import { openApiDocument } from '../../../src/shared/contract/openapi.ts';

const folder = new URL('../../../src/shared/contract/', import.meta.url);
const modules: object[] = await Promise.all(
  readdirSync(folder).map((name) => import(new URL(name, folder).href)),
);
const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === 'object' && value !== null && 'path' in value && 'method' in value && 'result' in value;
const endpoints = [...new Set(modules.flatMap((it) => Object.values(it)).filter(isEndpoint))];

test('every contract that there is can be checked against', () => {
  expect(endpoints.length).toBeGreaterThan(0);
  for (const endpoint of endpoints) expect(() => checkContract(endpoint), endpoint.id).not.toThrow();
});

test('all of them together are described in valid OpenAPI', async () => {
  const source = JSON.stringify(openApiDocument(endpoints, { version: '1.0.0-beta' }));
  const config = await createConfig({
    rules: { struct: 'error', 'no-unresolved-refs': 'error', 'operation-operationId-unique': 'error' },
  });
  const problems = await lintFromString({ source, config });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
});
