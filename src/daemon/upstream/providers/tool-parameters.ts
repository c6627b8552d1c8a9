import { type Json, objectOf } from './json-value.ts';

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
