import { listOf } from '../../../shared/json/json-object.ts';
import { type Json, objectOf } from '../json.ts';

const combiners = ['anyOf', 'oneOf', 'allOf', '$ref'];

/**
 * A function's parameters as an object schema with `properties`: servers refuse object schemas without that member, and
 * schemas without a type, both common for tools without parameters. Combined schemas are returned unchanged.
 */
export function objectParameters(parameters: Json | undefined): Json {
  if (parameters === undefined) return { type: 'object', properties: {} };
  if (combiners.some((keyword) => keyword in parameters)) return parameters;
  const { type = 'object', properties = {}, ...rest } = parameters;
  return { type, properties, ...rest };
}

/**
 * A schema of an object without alternatives at its root, for which OpenAI and Anthropic refuse the whole call: they are merged into
 * one object with all their properties, of which only those required by all are required. Source: nspady/google-calendar-mcp#39.
 */
export function withoutAlternatives({ anyOf, oneOf, allOf, ...rest }: Json): Json {
  const branches = [...listOf(anyOf), ...listOf(oneOf)].map((branch) => objectOf(branch) ?? {});
  const parts = listOf(allOf).map((part) => objectOf(part) ?? {});
  if (branches.length === 0 && parts.length === 0) return rest;

  const properties = Object.assign(
    {},
    ...[...branches, ...parts, rest].map((each) => objectOf(each.properties) ?? {}),
  );
  const required = new Set([rest, ...parts].flatMap((each) => listOf(each.required)));
  for (const name of listOf(branches[0]?.required)) {
    if (branches.every((branch) => listOf(branch.required).includes(name))) required.add(name);
  }
  return { ...rest, type: 'object', properties, required: [...required] };
}

/** Whether a function has no parameters at all. */
export function hasNoParameters(parameters: Json | undefined): boolean {
  const schema = objectParameters(parameters);
  const isEmpty = schema.type === 'object' && Object.keys(objectOf(schema.properties) ?? {}).length === 0;
  return isEmpty && !schema.additionalProperties && !schema.patternProperties;
}

const schemaMaps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemas = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];

/**
 * Upgrades a JSON Schema to draft 2020-12, the only one that some providers accept: many tools still use older drafts,
 * and a single one would get the whole call refused. Source: the release notes of drafts 6 and 2020-12.
 */
export function modernSchema({ $schema: _dialect, additionalItems, ...schema }: Json): Json {
  const modern: Json = schema;
  if (Array.isArray(modern.items)) {
    modern.prefixItems = modern.items;
    modern.items = additionalItems;
  }
  upgradeBound(modern, 'minimum', 'exclusiveMinimum');
  upgradeBound(modern, 'maximum', 'exclusiveMaximum');
  // In draft 3, `required` was a boolean on the property itself.
  if (typeof modern.required === 'boolean') delete modern.required;
  for (const keyword of schemaMaps) {
    const map = objectOf(modern[keyword]);
    if (map === undefined) continue;
    modern[keyword] = Object.fromEntries(Object.entries(map).map(([name, sub]) => [name, upgrade(sub)]));
  }
  for (const keyword of schemaLists) {
    const list = modern[keyword];
    if (Array.isArray(list)) modern[keyword] = list.map(upgrade);
  }
  for (const keyword of schemas) {
    if (modern[keyword] !== undefined) modern[keyword] = upgrade(modern[keyword]);
  }
  return modern;
}

function upgrade(schema: unknown): unknown {
  const object = objectOf(schema);
  return object ? modernSchema(object) : schema;
}

/** Up to draft 4, `exclusiveMinimum: true` excluded the value of `minimum`. */
function upgradeBound(schema: Json, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return;
  const isExclusive = schema[exclusive] && schema[bound] !== undefined;
  delete schema[exclusive];
  if (!isExclusive) return;
  schema[exclusive] = schema[bound];
  delete schema[bound];
}
