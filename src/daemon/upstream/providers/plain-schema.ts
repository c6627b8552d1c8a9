import { listOf } from '../../../shared/json/json-object.ts';
import { type Json, objectOf, objectsOf, textOf } from '../json.ts';

/** How often a definition is written out: it may refer to itself, and many of them to each other. */
const usesMax = 8;
/** No reasonable schema is nested more deeply. */
const depthMax = 60;

interface Place {
  root: Json;
  uses: Map<string, number>;
  depth: number;
}

/**
 * A schema with what all servers know: types, names, texts and lists of values. Of alternatives it has the first that is not null.
 * Source: the messages of Moonshot's and Gemini's APIs, which name the keyword or the place without a type that they refuse.
 */
export function plainSchema(schema: Json): Json {
  return plain(schema, { root: schema, uses: new Map(), depth: 0 });
}

function plain(schema: Json, place: Place): Json {
  const meant = meaningOf(schema, place);
  const type = typeOf(meant);
  const made: Json = { type };
  const below = { ...place, depth: place.depth + 1 };
  if (below.depth > depthMax) return made;
  const description = textOf(schema.description) ?? textOf(meant.description);
  if (description !== undefined) made.description = description;
  const values = 'const' in meant ? [meant.const] : meant.enum;
  if (Array.isArray(values) && type === 'string')
    made.enum = values.filter((value) => typeof value === 'string');
  if (type === 'array') made.items = plain(objectOf(meant.items) ?? {}, below);
  if (type !== 'object') return made;
  const properties = objectOf(meant.properties) ?? {};
  made.properties = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, plain(objectOf(property) ?? {}, below)]),
  );
  const required = listOf(meant.required).filter(
    (name) => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  if (required.length > 0) made.required = required;
  return made;
}

/** What a schema refers to, or the first of its alternatives. */
function meaningOf(schema: Json, place: Place): Json {
  const reference = textOf(schema.$ref);
  const [, holder = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference ?? '') ?? [];
  const definition = objectOf(objectOf(place.root[holder])?.[name]);
  if (reference !== undefined && definition !== undefined) {
    const uses = place.uses.get(reference) ?? 0;
    place.uses.set(reference, uses + 1);
    if (uses >= usesMax || place.depth >= depthMax) return { type: typeOf(definition) };
    return meaningOf(definition, { ...place, depth: place.depth + 1 });
  }
  if ('properties' in schema) return schema;
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => objectsOf(list));
  const chosen = alternatives.find(({ type }) => type !== 'null');
  return chosen === undefined ? schema : meaningOf(chosen, place);
}

function typeOf({ type, properties, items, enum: values, const: only }: Json): string {
  const named = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  if (typeof named === 'string' && named !== 'null') return named;
  if (properties !== undefined) return 'object';
  if (items !== undefined) return 'array';
  const [value = only] = listOf(values);
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string';
}
