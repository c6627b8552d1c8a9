import { type Json, objectOf } from '../json.ts';

const combiners = ['anyOf', 'oneOf', 'allOf', '$ref'];

/**
 * A function's parameters as the schema of an object with `properties`: servers refuse objects without that member, and
 * schemas of no type, which tools without parameters often have. Schemas put together from others are left as they are.
 */
export function objectParameters(parameters: Json | undefined): Json {
  if (parameters === undefined) return { type: 'object', properties: {} };
  if (combiners.some((keyword) => keyword in parameters)) return parameters;
  const { type = 'object', properties = {}, ...rest } = parameters;
  return { type, properties, ...rest };
}

/** Whether a function takes nothing at all. */
export function takesNothing(parameters: Json | undefined): boolean {
  const schema = objectParameters(parameters);
  const isObject = schema.type === 'object' && Object.keys(objectOf(schema.properties) ?? {}).length === 0;
  return isObject && !schema.additionalProperties && !schema.patternProperties;
}

const schemaMaps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const schemaLists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemas = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'];

/**
 * A JSON Schema in the dialect 2020-12, the only one that these providers take: many tools are still declared in older
 * ones, and one of them gets the whole call refused. Source: the release notes of the drafts 6 and 2020-12.
 */
export function modernSchema({ $schema: _dialect, additionalItems, ...schema }: Json): Json {
  const modern: Json = schema;
  if (Array.isArray(modern.items)) {
    modern.prefixItems = modern.items;
    modern.items = additionalItems;
  }
  modernBound(modern, 'minimum', 'exclusiveMinimum');
  modernBound(modern, 'maximum', 'exclusiveMaximum');
  // In the third draft each property said by itself whether it is required.
  if (typeof modern.required === 'boolean') delete modern.required;
  for (const keyword of schemaMaps) {
    const map = objectOf(modern[keyword]);
    if (map === undefined) continue;
    modern[keyword] = Object.fromEntries(Object.entries(map).map(([name, sub]) => [name, within(sub)]));
  }
  for (const keyword of schemaLists) {
    const list = modern[keyword];
    if (Array.isArray(list)) modern[keyword] = list.map(within);
  }
  for (const keyword of schemas) {
    if (modern[keyword] !== undefined) modern[keyword] = within(modern[keyword]);
  }
  return modern;
}

function within(schema: unknown): unknown {
  const object = objectOf(schema);
  return object ? modernSchema(object) : schema;
}

/** Up to the fourth draft, `exclusiveMinimum: true` said that `minimum` itself is not allowed. */
function modernBound(schema: Json, bound: string, exclusive: string): void {
  if (typeof schema[exclusive] !== 'boolean') return;
  const isExclusive = schema[exclusive] && schema[bound] !== undefined;
  delete schema[exclusive];
  if (!isExclusive) return;
  schema[exclusive] = schema[bound];
  delete schema[bound];
}
