import { type GeneratorState, type SchemaPosition, TooLarge } from './generator-state.ts';
import { numberOr, type Schema, Unsatisfiable } from './merge-schemas.ts';

const itemsMax = 500;

/** An object with the required properties, and the optional ones according to `state.optional`. */
export function objectInstance(state: GeneratorState, schema: Schema, position: SchemaPosition): Schema {
  const properties = asSchema(schema.properties);
  const required = new Set(asNames(schema.required));
  const object: Schema = {};
  const add = (name: string) => {
    const at = { name, ordinal: position.ordinal, depth: position.depth + 1 };
    const value = state.value(schemaOfProperty(schema, name), at);
    // Assigning to `__proto__` would not create a property.
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
    for (const dependent of asNames(asSchema(schema.dependentRequired)[name])) {
      if (!Object.hasOwn(object, dependent)) add(dependent);
    }
  };
  const addIfPossible = (name: string) => {
    if (!isPossible(() => add(name))) delete object[name];
  };

  let optionalLeft = numberOr(schema.maxProperties, Number.POSITIVE_INFINITY) - required.size;
  const skipped: string[] = [];
  for (const name of Object.keys(properties)) {
    if (required.has(name)) add(name);
    else if (optionalLeft > 0 && includesOptional(state, schema, name)) {
      addIfPossible(name);
      optionalLeft -= 1;
    } else skipped.push(name);
  }
  for (const name of required) if (!Object.hasOwn(object, name)) add(name);

  const propertiesMin = numberOr(schema.minProperties, 0);
  if (propertiesMin > itemsMax) throw new TooLarge('an object in it has too many properties');
  for (const name of skipped) if (Object.keys(object).length < propertiesMin) addIfPossible(name);
  for (let n = 1; Object.keys(object).length < propertiesMin; n += 1) {
    if (!Object.hasOwn(object, `key_${n}`)) add(`key_${n}`);
  }
  return object;
}

function schemaOfProperty(schema: Schema, name: string): unknown {
  const properties = asSchema(schema.properties);
  if (Object.hasOwn(properties, name)) return properties[name];
  return schema.patternProperties === undefined ? (schema.additionalProperties ?? {}) : {};
}

/** Optional arguments are left to the tool's defaults unless the prompt has a value for them. */
function includesOptional({ optional, prompt }: GeneratorState, schema: Schema, name: string): boolean {
  if (optional === 'all' || prompt.assigned(name) !== undefined) return true;
  const property = asSchema(asSchema(schema.properties)[name]);
  if (Array.isArray(property.enum)) {
    return property.enum.some((value) => typeof value === 'string' && prompt.mentions(value));
  }
  const types = [property.type].flat();
  const format = typeof property.format === 'string' ? property.format : undefined;
  const found = types.includes('string')
    ? prompt.textFor(name, format)
    : types.includes('number') || types.includes('integer')
      ? prompt.numberFor(name, Number.isFinite)
      : undefined;
  // If nothing is required, a guess is better than an empty object.
  return found !== undefined && (found.clear || asNames(schema.required).length === 0);
}

/** A list with the required number of items, and at least one if possible: an empty list is a poor example. */
export function arrayInstance(state: GeneratorState, schema: Schema, position: SchemaPosition): unknown[] {
  // Before 2020-12, a list in `items` meant `prefixItems`, and `additionalItems` meant `items`.
  const isOldTuple = Array.isArray(schema.items);
  const prefix: unknown[] = isOldTuple ? (schema.items as unknown[]) : [schema.prefixItems ?? []].flat();
  const rest = (isOldTuple ? schema.additionalItems : schema.items) ?? true;
  const contained = schema.contains === undefined ? 0 : numberOr(schema.minContains, 1);
  const itemsMin = Math.max(numberOr(schema.minItems, 0), contained);
  const itemsShown = Math.min(
    numberOr(schema.maxItems, Number.POSITIVE_INFINITY),
    Math.max(prefix.length, 1),
  );
  if (itemsMin > itemsMax) throw new TooLarge('a list in it is too long');

  const items: unknown[] = [];
  const add = () => {
    const at = items.length;
    const item = at < prefix.length ? prefix[at] : rest;
    const itemSchema = at < contained ? { allOf: [item, schema.contains] } : item;
    const make = (ordinal: number) =>
      state.value(itemSchema, {
        name: position.name,
        ordinal: position.ordinal + ordinal,
        depth: position.depth + 1,
      });
    items.push(schema.uniqueItems === true ? distinctFrom(items, make, at) : make(at));
  };
  while (items.length < itemsMin) add();
  while (items.length < itemsShown && isPossible(add)) {}
  return items;
}

/** The first generated value that differs from all others. */
function distinctFrom(others: readonly unknown[], make: (ordinal: number) => unknown, from: number): unknown {
  const known = new Set(others.map((other) => JSON.stringify(other)));
  for (let ordinal = from; ordinal <= from + others.length; ordinal += 1) {
    const value = make(ordinal);
    if (!known.has(JSON.stringify(value))) return value;
  }
  throw new Unsatisfiable('a list in it cannot have that many different items');
}

function isPossible(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if (error instanceof Unsatisfiable) return false;
    throw error;
  }
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}

function asNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
