import { type Making, type Spot, TooLarge } from './generator-state.ts';
import { type Schema, Unsatisfiable } from './merge-schemas.ts';

const itemsMax = 500;

/** An object with what the schema requires, and of the optional properties what `making.optional` asks for. */
export function objectInstance(making: Making, schema: Schema, spot: Spot): Schema {
  const properties = asSchema(schema.properties);
  const required = new Set(asNames(schema.required));
  const made: Schema = {};
  const add = (name: string) => {
    const at = { name, ordinal: spot.ordinal, depth: spot.depth + 1 };
    const value = making.value(schemaOfProperty(schema, name), at);
    // Assigning to `__proto__` would set no property.
    Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
    for (const dependent of asNames(asSchema(schema.dependentRequired)[name])) {
      if (!Object.hasOwn(made, dependent)) add(dependent);
    }
  };
  const addIfPossible = (name: string) => {
    if (!isPossible(() => add(name))) delete made[name];
  };

  let room = numberOr(schema.maxProperties, Number.POSITIVE_INFINITY) - required.size;
  const skipped: string[] = [];
  for (const name of Object.keys(properties)) {
    if (required.has(name)) add(name);
    else if (room > 0 && isWanted(making, schema, name)) {
      addIfPossible(name);
      room -= 1;
    } else skipped.push(name);
  }
  for (const name of required) if (!Object.hasOwn(made, name)) add(name);

  const least = numberOr(schema.minProperties, 0);
  if (least > itemsMax) throw new TooLarge('an object in it has too many properties');
  for (const name of skipped) if (Object.keys(made).length < least) addIfPossible(name);
  for (let n = 1; Object.keys(made).length < least; n += 1) {
    if (!Object.hasOwn(made, `key_${n}`)) add(`key_${n}`);
  }
  return made;
}

function schemaOfProperty(schema: Schema, name: string): unknown {
  const properties = asSchema(schema.properties);
  if (Object.hasOwn(properties, name)) return properties[name];
  return schema.patternProperties === undefined ? (schema.additionalProperties ?? {}) : {};
}

/** Optional properties of arguments are left to the tool's own defaults unless the prompt names a value. */
function isWanted({ optional, prompt }: Making, schema: Schema, name: string): boolean {
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
  // Where nothing is required, a guess is better than an empty object.
  return found !== undefined && (found.clear || asNames(schema.required).length === 0);
}

/** A list with what the schema requires, and at least one item where there can be one: an empty list shows little. */
export function arrayInstance(making: Making, schema: Schema, spot: Spot): unknown[] {
  // Before 2020-12, `items` as a list was what `prefixItems` is now and `additionalItems` what `items` is.
  const isOld = Array.isArray(schema.items);
  const prefix: unknown[] = isOld ? (schema.items as unknown[]) : [schema.prefixItems ?? []].flat();
  const rest = (isOld ? schema.additionalItems : schema.items) ?? true;
  const contained = schema.contains === undefined ? 0 : numberOr(schema.minContains, 1);
  const least = Math.max(numberOr(schema.minItems, 0), contained);
  const shown = Math.min(numberOr(schema.maxItems, Number.POSITIVE_INFINITY), Math.max(prefix.length, 1));
  if (least > itemsMax) throw new TooLarge('a list in it is too long');

  const items: unknown[] = [];
  const add = () => {
    const at = items.length;
    const item = at < prefix.length ? prefix[at] : rest;
    const wanted = at < contained ? { allOf: [item, schema.contains] } : item;
    const make = (ordinal: number) =>
      making.value(wanted, { name: spot.name, ordinal: spot.ordinal + ordinal, depth: spot.depth + 1 });
    items.push(schema.uniqueItems === true ? unlike(items, make, at) : make(at));
  };
  while (items.length < least) add();
  while (items.length < shown && isPossible(add)) {}
  return items;
}

/** The first of a few values that is not among the others. */
function unlike(others: readonly unknown[], make: (ordinal: number) => unknown, from: number): unknown {
  const taken = new Set(others.map((other) => JSON.stringify(other)));
  for (let ordinal = from; ordinal <= from + others.length; ordinal += 1) {
    const value = make(ordinal);
    if (!taken.has(JSON.stringify(value))) return value;
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

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
