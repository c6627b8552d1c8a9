import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { formats } from '../../../src/daemon/http/validation/input-check.ts';
import { openApiDocument } from '../../../src/shared/contract/openapi.ts';
import { standalone } from '../../../src/shared/contract/schema.ts';
import { oneLinePattern } from '../../../src/shared/contract/vocabulary.ts';
import { endpoints } from '../../support/endpoints.ts';

test('every contract compiles', () => {
  expect(endpoints.length).toBeGreaterThan(0);
  const ajv = new Ajv({ strictTypes: false, strictTuples: false, formats });
  for (const { id, params, query, headers, body } of endpoints) {
    for (const part of [params, query, headers, body]) {
      const compile = () => part && ajv.compile(standalone(part));
      expect(compile, id).not.toThrow();
    }
  }
});

test('every number in a path or query has an upper bound', () => {
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

test('every user-defined name is one line, not blank, and trimmed', () => {
  const names = ['name', 'displayName', 'title', 'reference'];
  // Model calls follow external formats.
  const own = endpoints.filter(({ tag }) => tag !== 'Model calls');
  const withRulesOfTheirOwn = [
    // The code checks it, because its length is in bytes, and it has an error code of its own.
    'createAgent name',
    // A word of tokens, and of model ids.
    'createPaywall name',
    'addEngineModel name',
  ];
  const given = own.flatMap(({ id, body }) =>
    Object.entries((body as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {})
      .filter(([name]) => names.includes(name) && !withRulesOfTheirOwn.includes(`${id} ${name}`))
      .map(([name, schema]) => [`${id} ${name}`, JSON.stringify(schema)] as const),
  );
  expect(given.length).toBeGreaterThan(8);
  const others = given.filter(([, schema]) => !schema.includes(JSON.stringify(oneLinePattern)));
  expect(others.map(([place]) => `${place}: use OneLine of vocabulary.ts`)).toEqual([]);
});

test.each<[string, boolean]>([
  ['a', true],
  ['Ann’s laptop 🧑‍🚀', true],
  ['نام', true],
  [' a', false],
  ['a\u00a0', false],
  ['\u3000', false],
  ['a\nb', false],
  ['a\u0085b', false],
  ['a\u2028b', false],
  ['\u001b[31mred', false],
])('%j as a name: %s', (name, isOne) => {
  expect(new RegExp(oneLinePattern, 'u').test(name)).toBe(isOne);
});

test('all endpoints together form a valid OpenAPI document', async () => {
  const source = JSON.stringify(openApiDocument(endpoints, { version: '1.0.0-beta' }));
  const config = await createConfig({
    rules: { struct: 'error', 'no-unresolved-refs': 'error', 'operation-operationId-unique': 'error' },
  });
  const problems = await lintFromString({ source, config });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
});
