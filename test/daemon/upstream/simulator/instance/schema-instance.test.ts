import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import { Check } from 'typebox/schema';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Unsatisfiable } from '../../../../../src/daemon/upstream/simulator/instance/merge-schemas.ts';
import { make } from './make.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isValid = (schema: AnySchema, value: unknown) => ajv.validate(schema, value) as boolean;

test.each<[string, AnySchema]>([
  [
    'a reference into $defs',
    { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'integer', minimum: 4 } } },
  ],
  ['definitions of older drafts', { $ref: '#/definitions/x', definitions: { x: { const: 3 } } }],
  [
    'a tree',
    {
      $defs: {
        node: {
          type: 'object',
          required: ['kids'],
          properties: { kids: { type: 'array', items: { $ref: '#/$defs/node' } } },
        },
      },
      $ref: '#/$defs/node',
    },
  ],
  [
    'a list linked by null',
    {
      type: 'object',
      required: ['next'],
      properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
    },
  ],
  [
    'allOf with limits of both',
    { allOf: [{ type: 'integer', minimum: 5 }, { maximum: 6 }, { multipleOf: 3 }] },
  ],
  [
    'allOf with properties of both',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { a: { minLength: 20 }, b: { const: 1 } }, required: ['b'] },
      ],
    },
  ],
  [
    'anyOf whose first branch is impossible',
    { type: 'string', anyOf: [{ type: 'integer' }, { maxLength: 3 }] },
  ],
  ['anyOf and oneOf together', { anyOf: [{ minimum: 3 }], oneOf: [{ maximum: 4 }], type: 'number' }],
  [
    'if and then',
    {
      type: 'object',
      properties: { kind: { enum: ['a', 'b'] } },
      required: ['kind'],
      if: { properties: { kind: { const: 'b' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['extra'] },
    },
  ],
  [
    'different items',
    { type: 'array', uniqueItems: true, minItems: 4, items: { type: 'integer', minimum: 0, maximum: 3 } },
  ],
  [
    'different items of a list of values',
    { type: 'array', uniqueItems: true, minItems: 3, items: { enum: ['x', 'y', 'z'] } },
  ],
  [
    'items that must be contained',
    { type: 'array', items: { type: 'integer' }, contains: { minimum: 50 }, minContains: 2 },
  ],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 },
  ],
  ['a map', { type: 'object', additionalProperties: { type: 'boolean' }, minProperties: 2 }],
  [
    'a limit of properties',
    { type: 'object', properties: { a: {}, b: {}, c: {} }, required: ['c'], maxProperties: 2 },
  ],
  [
    'properties that need others',
    { type: 'object', properties: { a: {}, b: {} }, required: ['a'], dependentRequired: { a: ['b', 'c'] } },
  ],
  ['required properties without a schema', { type: 'object', required: ['x', 'constructor'] }],
  ['several types', { type: ['null', 'array'], minItems: 1 }],
  ['a fraction between whole numbers', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.5 }],
  ['whole multiples of a fraction', { type: 'integer', multipleOf: 1.5, minimum: 4 }],
  ['negative numbers', { type: 'integer', maximum: -10 }],
  ['true', true],
  ['words that every object has', { type: 'string', format: 'constructor', 'x-toString': 1 }],
])('%s', (_what, schema) => {
  for (const optional of ['all', 'offered'] as const) {
    expect(make(schema, '', optional)).toSatisfy((made) => isValid(schema, made));
  }
});

test.each([
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'url',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
  'regex',
])('format %s', (format) => {
  const items = make({
    type: 'array',
    items: { type: 'string', format },
    minItems: 3,
    uniqueItems: true,
  }) as string[];
  expect(new Set(items).size).toBe(3);
  for (const item of items) expect(item).toSatisfy((text) => Check({ type: 'string', format }, text));
});

test.each<[string, unknown]>([
  ['a contradiction', { type: 'integer', minimum: 2, maximum: 1 }],
  ['false', { type: 'object', properties: { a: false }, required: ['a'] }],
  ['different types', { allOf: [{ type: 'string' }, { type: 'integer' }] }],
  ['an endless value', { type: 'object', properties: { self: { $ref: '#' } }, required: ['self'] }],
  ['a reference to nowhere', { $ref: '#/$defs/missing' }],
  ['a reference to another document', { $ref: 'https://example.com/schema.json' }],
  ['no values', { enum: [] }],
])('%s is unsatisfiable', (_what, schema) => {
  expect(() => make(schema)).toThrow(Unsatisfiable);
});

test('schemas written by zod', () => {
  const person = z.object({
    id: z.uuid(),
    email: z.email(),
    site: z.url(),
    born: z.iso.date(),
    seen: z.iso.datetime(),
    address: z.ipv4(),
    role: z.enum(['admin', 'user']),
    state: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('active') }),
      z.object({ kind: z.literal('left'), since: z.iso.date() }),
    ]),
    scores: z.record(z.string(), z.number().min(0).max(1)),
    pair: z.tuple([z.string(), z.int().positive()]),
    nick: z.string().min(2).max(5).nullable(),
    manager: z.string().optional(),
  });
  const made = make(z.toJSONSchema(person), 'Add grace@navy.example as admin, born 1906-12-09');
  expect(person.parse(made)).toMatchObject({
    email: 'grace@navy.example',
    role: 'admin',
    born: '1906-12-09',
  });
});
