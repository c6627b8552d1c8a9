import { listOf } from '../../../shared/json/json-object.ts';
import { type Json, objectOf, objectsOf, textOf } from '../json.ts';

/** A schema may refer to itself. */
const depthMax = 12;

/**
 * A schema with what all servers know: types, names, texts and lists of values. Of alternatives it has the first that is not null.
 * Source: the messages of Moonshot's and Gemini's APIs, which name the keyword or the place without a type that they refuse.
 */
export function plainSchema(schema: Json): Json {
  return plain(schema, schema, 0);
}

function plain(schema: Json, root: Json, depth: number): Json {
  const meant = meaningOf(schema, root, depth);
  const type = typeOf(meant);
  const made: Json = { type };
  const description = textOf(schema.description) ?? textOf(meant.description);
  if (description !== undefined) made.description = description;
  const values = 'const' in meant ? [meant.const] : meant.enum;
  if (Array.isArray(values) && type === 'string')
    made.enum = values.filter((value) => typeof value === 'string');
  if (type === 'array') made.items = plain(objectOf(meant.items) ?? {}, root, depth + 1);
  if (type !== 'object') return made;
  const properties = Object.entries(objectOf(meant.properties) ?? {});
  made.properties = Object.fromEntries(
    properties.map(([name, property]) => [name, plain(objectOf(property) ?? {}, root, depth + 1)]),
  );
  const required = listOf(meant.required).filter((name) => properties.some(([known]) => known === name));
  if (required.length > 0) made.required = required;
  return made;
}

/** What a schema refers to, or the first of its alternatives. */
function meaningOf(schema: Json, root: Json, depth: number): Json {
  if (depth > depthMax) return {};
  const [, holder = '', name = ''] =
    /^#\/(\$defs|definitions)\/([^/]+)$/.exec(textOf(schema.$ref) ?? '') ?? [];
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => objectsOf(list));
  const chosen =
    objectOf(objectOf(root[holder])?.[name]) ??
    ('properties' in schema ? undefined : alternatives.find(({ type }) => type !== 'null'));
  return chosen === undefined ? schema : meaningOf(chosen, root, depth + 1);
}

function typeOf({ type, properties, items, enum: values, const: only }: Json): string {
  const named = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  if (typeof named === 'string' && named !== 'null') return named;
  if (properties !== undefined) return 'object';
  if (items !== undefined) return 'array';
  const [value = only] = listOf(values);
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string';
}
