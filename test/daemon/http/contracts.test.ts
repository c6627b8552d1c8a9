import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { checkContract } from '../../../src/daemon/http/input-check.ts';
import { openApiDocument } from '../../../src/shared/contract/openapi.ts';
import { endpoints } from '../../support/endpoints.ts';

test('every contract that there is can be checked against', () => {
  expect(endpoints.length).toBeGreaterThan(0);
  for (const endpoint of endpoints) expect(() => checkContract(endpoint), endpoint.id).not.toThrow();
});

test('every number in an address has a bound above', () => {
  const unbounded = endpoints.flatMap(({ id, params, query }) =>
    [params, query].flatMap((part) =>
      Object.entries((part as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {})
        .map(([name, schema]) => ({ name, ...(schema as { type?: string; maximum?: number }) }))
        .filter(({ type, maximum }) => (type === 'integer' || type === 'number') && maximum === undefined)
        .map(({ name }) => `${id} ${name}`),
    ),
  );
  expect(unbounded).toEqual([]);
});

test('all of them together are described in valid OpenAPI', async () => {
  const source = JSON.stringify(openApiDocument(endpoints, { version: '1.0.0-beta' }));
  const config = await createConfig({
    rules: { struct: 'error', 'no-unresolved-refs': 'error', 'operation-operationId-unique': 'error' },
  });
  const problems = await lintFromString({ source, config });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
});
