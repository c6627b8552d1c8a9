import { Ajv } from 'ajv';
import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { standalone } from '../../../src/shared/contract/schema.ts';

const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

describe('a published schema', () => {
  test.each<[string, TSchema, unknown]>([
    [
      'a text or null',
      orNull(Type.String({ maxLength: 4, description: 'A word.' })),
      { type: ['string', 'null'], maxLength: 4, description: 'A word.' },
    ],
    [
      'a union in a union',
      orNull(Type.Union([Type.String(), Type.Array(Type.Integer())])),
      { type: ['string', 'array', 'null'], items: { type: 'integer' } },
    ],
    [
      'literals or null',
      orNull(Type.Union([Type.Literal('a'), Type.Literal(2)], { description: 'One.' })),
      { enum: ['a', 2, null], description: 'One.' },
    ],
    ['literals', Type.Union([Type.Literal('a'), Type.Literal('b')]), { enum: ['a', 'b'] }],
    [
      'anything by name',
      Type.Record(Type.String(), Type.Unknown()),
      { type: 'object', additionalProperties: true },
    ],
  ])('merges %s', (_what, schema, simple) => {
    expect(standalone(schema)).toEqual(simple);
  });

  test.each<[string, TSchema]>([
    [
      'two kinds of object',
      Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]),
    ],
    ['two bounds on numbers', Type.Union([Type.Integer({ minimum: 5 }), Type.Number({ maximum: 1 })])],
    ['two descriptions', Type.Union([Type.String({ description: 'a' }), Type.Integer({ description: 'b' })])],
  ])('keeps %s separate', (_what, schema) => {
    expect(standalone(schema)).toHaveProperty('anyOf');
  });
});

const leaf: fc.Arbitrary<TSchema> = fc.oneof(
  fc.constantFrom<TSchema>(
    Type.String({ minLength: 2 }),
    Type.String({ pattern: '^a' }),
    Type.Integer({ minimum: 1 }),
    Type.Number({ maximum: 1.5 }),
    Type.Boolean(),
    Type.Null(),
    Type.Literal('a'),
    Type.Literal(1),
    Type.Unknown(),
    Type.Enum(['a', 'ab']),
  ),
);
const { schema } = fc.letrec<{ schema: TSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((branches) => Type.Union(branches)),
    tie('schema').map((items) => Type.Array(items, { maxItems: 2 })),
    tie('schema').map((values) => Type.Record(Type.String(), values)),
    fc
      .tuple(tie('schema'), tie('schema'), fc.boolean())
      .map(([a, b, additionalProperties]) =>
        Type.Object({ a, b: Type.Optional(b) }, { additionalProperties }),
      ),
  ),
}));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('a', 'ab', '', 1, 1.5, 0, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
}));

test('the simplified schema accepts the same values as the original', () => {
  const verdicts = new Set<boolean>();
  const ajv = new Ajv({ strict: false, addUsedSchema: false });
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 8, maxLength: 8 }), (long, values) => {
      const [before, after] = [ajv.compile(long), ajv.compile(standalone(long))];
      for (const it of values) {
        verdicts.add(before(it));
        expect(after(it), JSON.stringify([long, standalone(long), it])).toBe(before(it));
      }
    }),
    { numRuns: 300 },
  );
  expect(verdicts.size).toBe(2);
});
