export type JsonSchema = Record<string, unknown>;

/**
 * Simplifies generated schemas. TypeBox writes `string | null` as a union of two schemas; a single schema with two
 * types is shorter, validates without trying branches, and yields one clear error.
 */
export function simpler(schema: JsonSchema): JsonSchema {
  return withMembers(withPlainUnion(schema));
}

const anyKey = '^.*$';

/** `{ '^.*$': S }` matches every member. */
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

/** Flattens nested unions. */
function inner(branch: JsonSchema): JsonSchema[] {
  const isUnion = Array.isArray(branch.anyOf) && Object.keys(branch).length === 1;
  return isUnion ? (branch.anyOf as JsonSchema[]) : [branch];
}

/** A single enumeration, if every branch lists its values. */
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

/** Limits a keyword to its type, so that it holds in a schema with other types. */
const keywordsOf: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
  boolean: [],
  null: [],
};

/** A single schema of several types, if no two branches share a type and no branch has keywords beyond its type. */
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

/** An integer is a number: one schema cannot have different bounds for both. */
function kindOf(type: string): string {
  return type === 'integer' ? 'number' : type;
}

/** Merges a branch. False if it has more than `keywords` and one set of annotations. */
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
