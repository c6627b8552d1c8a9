import { isObject } from '../../../shared/json/json-object.ts';

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isObject,
};

/**
 * The arguments of a call as its tool takes them: models and clients also write numbers, lists and objects as texts, an empty text for
 * what they leave out, and a made-up argument for a tool that takes none. What does not fit is returned as it was given. Source:
 * anthropics/claude-code#24597, cursor/cursor#3614, mondaycom/mcp#15.
 */
export function fittedArguments(schema: object, given: object, parse: (text: string) => unknown): object {
  const { properties } = schema as { properties?: object };
  return Object.keys(properties ?? {}).length === 0 ? {} : (fitted(schema, given, parse) as object);
}

function fitted(schema: unknown, given: unknown, parse: (text: string) => unknown): unknown {
  if (!isObject(schema)) return given;
  const value = typeof given === 'string' ? valueIn(given, typesOf(schema), parse) : given;
  if (Array.isArray(value)) return value.map((item) => fitted(schema.items, item, parse));
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties)) return value;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const isLeftOut = (name: string, member: unknown) => member === '' && !required.includes(name);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !isLeftOut(name, member))
      .map(([name, member]) => [name, fitted(properties[name], member, parse)]),
  );
}

/** What a text says where none is taken; the text if it is of no type that is. */
export function valueIn(text: string, types: readonly unknown[], parse: (text: string) => unknown): unknown {
  if (takesText(types)) return text;
  try {
    const value = parse(text);
    return types.some((type) => typeTests[String(type)]?.(value)) ? value : text;
  } catch {
    return text;
  }
}

/** Also where no type is named, as for enumerations. */
const takesText = (types: readonly unknown[]) => types.length === 0 || types.includes('string');

function typesOf(schema: unknown): unknown[] {
  const { type = [], anyOf = [] } = isObject(schema) ? schema : {};
  return [type, Array.isArray(anyOf) ? anyOf.map(typesOf) : []].flat(2);
}

/**
 * A schema of arguments in which each has one type, as other programs cannot take a list of types, and enumerations name theirs. Null
 * is taken as what is absent. Source: cursor/cursor#3778, google-gemini/gemini-cli#21094, github/copilot-cli#4623.
 */
export function withSingleTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withSingleTypes);
  if (!isObject(schema)) return schema;
  const named = Array.isArray(schema.enum) && schema.type === undefined ? { type: 'string' } : {};
  const members = Object.entries(schema).map(([name, value]): [string, unknown] => [
    name,
    name === 'type' && Array.isArray(value) ? value.find((type) => type !== 'null') : withSingleTypes(value),
  ]);
  return { ...named, ...Object.fromEntries(members) };
}
