import fc from 'fast-check';
import type { JsonSchema } from '../../src/shared/contract/schema.ts';

/**
 * Values that mostly fit a schema, also at its bounds. Rules across members (`if`, `oneOf` of required members) are not
 * followed, so that a validator has to select what fits.
 */

/** Valid values by member name, so that not every body names something unknown. */
export type UsualValues = Readonly<Record<string, readonly unknown[]>>;

interface Context {
  root: JsonSchema;
  usual: UsualValues;
}

/** Values for a schema whose `$ref`s point into its `$defs`. */
export function validBody(root: JsonSchema, usual: UsualValues): fc.Arbitrary<unknown> {
  return fitting(root, { root, usual });
}

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1.5, '', 'a', [], {}, [1], { a: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

const texts = ['me', 'sim/echo', 'https://example.com/a', '2099-01-01T00:00:00Z', '2099-01-01', '1', '{}'];

function fitting(schema: JsonSchema, context: Context, depth = 0): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf: _oneOf, ...rest } = schema;
  if (typeof $ref === 'string') {
    const named = (context.root.$defs as Record<string, JsonSchema>)[$ref.replace('#/$defs/', '')];
    return fitting(named ?? {}, context, depth);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (Array.isArray(anyOf) && schema.type === undefined)
    return fc.oneof(
      ...(anyOf as JsonSchema[]).map((branch) => fitting({ ...rest, ...branch }, context, depth)),
    );
  const types = [schema.type ?? []].flat() as string[];
  if (types.length === 0) return anyValue;
  return fc.oneof(...types.map((type) => ofType(type, schema, context, depth)));
}

function ofType(type: string, schema: JsonSchema, context: Context, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return numberOf(type, schema as Record<string, number | undefined>);
    case 'string':
      return textOf(schema);
    case 'array':
      return listOf(schema, context, depth);
    default:
      return objectOf(schema, context, depth);
  }
}

function numberOf(type: 'integer' | 'number', bounds: Record<string, number | undefined>) {
  const { minimum: min = -10, maximum: max = 1e21 } = bounds;
  const inner =
    type === 'integer'
      ? fc.integer({ min, max: Math.min(max, 2 ** 31 - 1) })
      : fc.double({ min, max, noNaN: true });
  return fc.oneof(inner, fc.constantFrom(min, max));
}

function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 40 } = schema as Record<string, number | undefined>;
  const plain = fc.oneof(
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 15) }),
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, minLength + 6) }),
    fc.constantFrom(...texts, 'a'.repeat(Math.min(maxLength, 200)), ' '.repeat(minLength)),
  );
  if (typeof schema.pattern !== 'string') return plain;
  // The generator knows no assertions; the validator selects.
  const pattern = schema.pattern.replaceAll(/\(\?[!=](?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g, '');
  return fc.oneof({ weight: 5, arbitrary: fc.stringMatching(new RegExp(pattern)) }, plain);
}

function listOf(schema: JsonSchema, context: Context, depth: number): fc.Arbitrary<unknown[]> {
  const { minItems: minLength = 0, maxItems = minLength + 2 } = schema as Record<string, number | undefined>;
  const item = fitting((schema.items ?? {}) as JsonSchema, context, depth + 1);
  return fc.array(item, { minLength, maxLength: Math.min(maxItems, minLength + 2) });
}

const depthMax = 6;

function objectOf(schema: JsonSchema, context: Context, depth: number): fc.Arbitrary<object> {
  if (depth > depthMax) return fc.constant({});
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema.required ?? []) as string[]);
  const share = 100 / Math.max(2, properties.length / 3);
  const entries = properties.map(([name, property]) => {
    const usual = context.usual[name];
    const any = fitting(property, context, depth + 1);
    const value = usual ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, any) : any;
    return fc
      .tuple(fc.nat(99), value)
      .map(([die, given]) => (required.has(name) || die < share ? [[name, given] as const] : []));
  });
  const { additionalProperties: more } = schema;
  const extra =
    typeof more === 'object' && more !== null
      ? fc
          .array(fc.tuple(fc.constantFrom('x', 'zz', 'a b'), fitting(more as JsonSchema, context, depth + 1)))
          .map((all) => all.slice(0, 3))
      : fc.constant([]);
  return fc
    .tuple(...entries, extra)
    .map((members) => Object.fromEntries(members.flat() as [string, unknown][]));
}
