import { listOf } from '../../../shared/json/json-object.ts';
import { isObject, type Json, mapChanged, objectOf } from '../json.ts';

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

/** A function's parameters as providers with OpenAI's formats accept them. */
export function functionParameters(parameters: Json | undefined): Json {
  return objectParameters(parameters && withoutAlternatives(validSchema(parameters)));
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

/** A schema with all schemas directly in it changed; the same one if none changes. */
function withSubschemas(schema: Json, change: (subschema: unknown) => unknown): Json {
  const changed: Json = {};
  for (const keyword of schemaMaps) {
    const map = objectOf(schema[keyword]);
    if (map === undefined) continue;
    const members = Object.entries(map);
    const made = mapChanged(members, (member): [string, unknown] => {
      const sub = change(member[1]);
      return sub === member[1] ? member : [member[0], sub];
    });
    if (made !== members) changed[keyword] = Object.fromEntries(made);
  }
  for (const keyword of schemaLists) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    const made = mapChanged(list, change);
    if (made !== list) changed[keyword] = made;
  }
  for (const keyword of schemas) {
    const sub = schema[keyword];
    if (sub === undefined || Array.isArray(sub)) continue;
    const made = change(sub);
    if (made !== sub) changed[keyword] = made;
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed };
}

/** Keywords whose value may be null. */
const values = new Set(['const', 'default', 'example']);

/**
 * A schema without what is no JSON Schema, as servers of MCP write it: `null` for a keyword without a value, and a `required` that is no
 * list. Lists say what is in them, which OpenAI demands. Source: MarkusPfundstein/mcp-gsuite#48, Automattic/wordpress-mcp#103.
 */
export function validSchema(schema: Json): Json {
  const { type, required, items, prefixItems } = schema;
  let valid = withSubschemas(schema, (sub) => (isObject(sub) ? validSchema(sub) : sub));
  const wrong = Object.keys(schema).filter(
    (keyword) =>
      (schema[keyword] === null && !values.has(keyword)) ||
      (keyword === 'required' && !Array.isArray(required)),
  );
  if (wrong.length > 0)
    valid = Object.fromEntries(Object.entries(valid).filter(([keyword]) => !wrong.includes(keyword)));
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isList && (items ?? prefixItems ?? null) === null ? { ...valid, items: {} } : valid;
}

/** More would make a grammar too large. */
const repetitionsMax = 1000;
const repetitions = ['minLength', 'maxLength', 'minItems', 'maxItems'];

/**
 * A schema without what llama.cpp cannot turn into a grammar: schemas that are a boolean, `not`, patterns of a part of a text, and many
 * repetitions. Source: can1357/oh-my-pi#5914, ggml-org/llama.cpp#17574, unslothai/unsloth#7512.
 */
export function grammarSchema(schema: Json): Json {
  const { not: _not, pattern, additionalProperties, ...rest } = schema;
  const plain = withSubschemas(rest, (sub) => (isObject(sub) ? grammarSchema(sub) : sub === true ? {} : sub));
  if (typeof pattern === 'string' && /^\^.*\$$/s.test(pattern)) plain.pattern = pattern;
  if (additionalProperties !== undefined)
    plain.additionalProperties = isObject(additionalProperties)
      ? grammarSchema(additionalProperties)
      : additionalProperties;
  const properties = objectOf(plain.properties);
  if (properties !== undefined)
    plain.properties = Object.fromEntries(Object.entries(properties).filter(([, sub]) => sub !== false));
  for (const keyword of repetitions) if (Number(plain[keyword]) > repetitionsMax) delete plain[keyword];
  return plain;
}

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
  return withSubschemas(modern, upgrade);
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
