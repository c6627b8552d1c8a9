import type { JsonSchema } from './schema.ts';

/**
 * Says the same in fewer words. The builder of schemas writes `string | null` as a union of two schemas; one schema of
 * two types is shorter to read, is checked without trying branch after branch, and fails with one plain reason.
 */
export function simpler(schema: JsonSchema): JsonSchema {
  return withMembers(withPlainUnion(schema));
}

const anyKey = '^.*$';

/** `{ '^.*$': S }` means every member. */
function withMembers(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema;
  if (!isObject(patternProperties) || 'properties' in rest || 'additionalProperties' in rest) return schema;
  const [[key, member] = [], ...others] = Object.entries(patternProperties);
  if (key !== anyKey || others.length > 0) return schema;
  const isAnything = isObject(member) && Object.keys(member).length === 0;
  return { ...rest, additionalProperties: isAnything ? true : member };
}

function withPlainUnion(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || Object.keys(rest).some((key) => !annotations.has(key))) return schema;
  const branches = (anyOf as JsonSchema[]).flatMap(inner);
  return asEnum(branches, rest) ?? asTypes(branches, rest) ?? { ...rest, anyOf: branches };
}

const annotations = new Set(['description', 'title', 'examples', 'default']);

/** A branch that is only a union itself gives its branches to the outer one. */
function inner(branch: JsonSchema): JsonSchema[] {
  const isUnion = Array.isArray(branch.anyOf) && Object.keys(branch).length === 1;
  return isUnion ? (branch.anyOf as JsonSchema[]) : [branch];
}

/** One list of the only values, where every branch names its own. */
function asEnum(branches: readonly JsonSchema[], rest: JsonSchema): JsonSchema | undefined {
  const values = new Set<unknown>();
  const merged: JsonSchema = {};
  for (const branch of branches) {
    const own = valuesOf(branch);
    if (own === undefined || !keep(merged, branch, ['type', 'const', 'enum'])) return undefined;
    for (const value of own) values.add(value);
  }
  const { type: _type, const: _const, enum: _enum, ...said } = merged;
  return { ...said, ...rest, enum: [...values] };
}

function valuesOf({ type, const: value, enum: values }: JsonSchema): unknown[] | undefined {
  if (value !== undefined) return [value];
  if (Array.isArray(values)) return values;
  return type === 'null' ? [null] : undefined;
}

/** What belongs to one type alone, so that it stays true when the schema has other types too. */
const keywordsOf: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  boolean: [],
  null: [],
};

/** One schema of several types, where no two branches have the same type and no branch says more than its type may. */
function asTypes(branches: readonly JsonSchema[], rest: JsonSchema): JsonSchema | undefined {
  const types: string[] = [];
  const merged: JsonSchema = {};
  for (const { type, ...said } of branches) {
    const own = [type].flat() as string[];
    const isNew = own.every(
      (name) => name in keywordsOf && !types.some((other) => kindOf(other) === kindOf(name)),
    );
    if (
      !isNew ||
      !keep(
        merged,
        said,
        own.flatMap((name) => keywordsOf[name] ?? []),
      )
    )
      return undefined;
    types.push(...own);
  }
  return { type: types, ...merged, ...rest };
}

/** An integer is a number: one schema cannot bound both differently. */
function kindOf(type: string): string {
  return type === 'integer' ? 'number' : type;
}

/** Takes over what a branch says. False when that is more than `keywords` and one set of annotations. */
function keep(merged: JsonSchema, branch: JsonSchema, keywords: readonly string[]): boolean {
  for (const [key, value] of Object.entries(branch)) {
    if (!keywords.includes(key) && (!annotations.has(key) || key in merged)) return false;
    merged[key] = value;
  }
  return true;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
