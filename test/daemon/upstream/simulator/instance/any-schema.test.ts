import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { expect, test } from 'vitest';
import { make } from './make.ts';

/** Satisfiable schemas. */
const name = fc.constantFrom(
  'city',
  'name',
  'count',
  'query',
  'id',
  '__proto__',
  'constructor',
  'a b',
  'ünï',
);

function bounded(
  from: string,
  to: string,
  value: fc.Arbitrary<number>,
  span: fc.Arbitrary<number>,
): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .record({ low: fc.option(value, { nil: undefined }), span: fc.option(span, { nil: undefined }) })
    .map(({ low, span: width }) => ({
      ...(low !== undefined && { [from]: low }),
      ...(width !== undefined && { [to]: (low ?? 0) + width }),
    }));
}

const small = fc.integer({ min: -1000, max: 1000 });
const size = fc.nat({ max: 12 });
const scalar: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  bounded('minLength', 'maxLength', size, size).map((limits) => ({ type: 'string', ...limits })),
  bounded('minimum', 'maximum', small, size).map((limits) => ({ type: 'integer', ...limits })),
  bounded('exclusiveMinimum', 'exclusiveMaximum', small, fc.integer({ min: 2, max: 9 })).map((limits) => ({
    type: 'integer',
    ...limits,
  })),
  bounded('exclusiveMinimum', 'exclusiveMaximum', small, fc.integer({ min: 1, max: 9 })).map((limits) => ({
    type: 'number',
    ...limits,
  })),
  fc.record({ type: fc.constant('number'), multipleOf: fc.constantFrom(0.5, 2, 7), minimum: small }),
  fc.constantFrom<Record<string, unknown>>(
    { type: 'boolean' },
    { type: 'null' },
    {},
    { type: ['null', 'integer'] },
  ),
  fc.record({ enum: fc.uniqueArray(fc.oneof(fc.string(), small, fc.boolean()), { minLength: 1 }) }),
  fc.record({ const: fc.constantFrom<unknown>(null, 'x', 7, [1, 'a'], { a: { b: [] } }) }),
);

const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown>; object: Record<string, unknown> }>(
  (tie) => ({
    object: fc
      .uniqueArray(fc.tuple(name, tie('schema'), fc.boolean()), { selector: ([key]) => key, maxLength: 4 })
      .chain((members) =>
        fc.constantFrom(true, false).map((isClosed) => ({
          type: 'object',
          properties: Object.fromEntries(members.map(([key, member]) => [key, member])),
          required: members.filter(([, , isRequired]) => isRequired).map(([key]) => key),
          ...(isClosed && { additionalProperties: false }),
        })),
      ),
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      scalar,
      tie('object'),
      fc
        .record({ items: tie('schema'), limits: bounded('minItems', 'maxItems', fc.nat({ max: 3 }), size) })
        .map(({ items, limits }) => ({ type: 'array', items, ...limits })),
      fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
      fc.record({
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
        items: fc.constant(false),
      }),
      tie('object').map((part) => ({ allOf: [part, { type: 'object', required: part.required }] })),
    ),
  }),
);

test('an instance fits its schema, whatever the prompt says', () => {
  const words = fc.constantFrom(
    'city: Rome',
    'in Paris',
    '5 count',
    '12',
    '-3.5',
    '"a quote"',
    'true',
    'id=',
  );
  fc.assert(
    fc.property(
      anySchema,
      fc.array(words),
      fc.constantFrom('all' as const, 'offered' as const),
      (schema, said, optional) => {
        const made = make(schema, said.join(' '), optional);
        expect(Check(schema, JSON.parse(JSON.stringify(made)))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
