import { simpler } from './simpler-schema.ts';

/**
 * Contracts use two ways to name a schema: `$id`, and `$defs` for one that holds itself. Neither travels well: validators
 * refuse an `$id` that they meet twice, and `$defs` deep inside a document cannot be pointed at. This takes names out.
 */

export type JsonSchema = Record<string, unknown>;

/** Where named schemas go, and how they are pointed at from then on. */
export interface SchemaNames {
  /** What stands before the name in a `$ref`: `#/components/schemas/`. */
  pointer: string;
  /** Whether a schema with an `$id` is moved out too; otherwise it stays where it is and loses the `$id`. */
  moveNamed: boolean;
  /** Whether tuples are written in the way of JSON Schema 2020-12 (`prefixItems`). */
  prefixItems: boolean;
  /** Whether an enumeration says its type as well: generators of clients look for it. */
  typedEnums: boolean;
  found: Map<string, JsonSchema>;
}

const oneSchema = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const listOfSchemas = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const mapOfSchemas = ['dependentSchemas', 'patternProperties', 'properties'];

/** A copy of `schema` with every name taken out of it and put into `names.found`. */
export function takeOutNames(schema: unknown, names: SchemaNames): unknown {
  if (!isSchema(schema)) return schema;
  const { $id, $defs, $ref, ...rest } = schema;
  if (isSchema($defs)) for (const [name, inner] of Object.entries($defs)) define(name, inner, names);
  const copy: JsonSchema = {};
  if (typeof $ref === 'string') copy.$ref = names.pointer + $ref.replace(/^#\/\$defs\//, '');
  Object.assign(copy, rewriteParts(rest, names));
  if (typeof $id !== 'string' || !names.moveNamed || copy.$ref !== undefined) return copy;
  remember($id, copy, names);
  return { $ref: names.pointer + $id };
}

/** A schema that a validator can take alone: no `$id`, and what it points at under `$defs` at its root. */
export function standalone(schema: unknown): JsonSchema {
  const found = new Map<string, JsonSchema>();
  const names = { pointer: '#/$defs/', moveNamed: false, prefixItems: false, typedEnums: false, found };
  const root = takeOutNames(schema, names) as JsonSchema;
  return found.size === 0 ? root : { ...root, $defs: Object.fromEntries(found) };
}

function rewriteParts(schema: JsonSchema, names: SchemaNames): JsonSchema {
  const copy: JsonSchema = { ...schema };
  for (const key of listOfSchemas) {
    const list = copy[key];
    if (Array.isArray(list)) copy[key] = list.map((inner) => takeOutNames(inner, names));
  }
  for (const key of oneSchema) {
    if (isSchema(copy[key])) copy[key] = takeOutNames(copy[key], names);
  }
  for (const key of mapOfSchemas) {
    const map = copy[key];
    if (!isSchema(map)) continue;
    copy[key] = Object.fromEntries(
      Object.entries(map).map(([name, inner]) => [name, takeOutNames(inner, names)]),
    );
  }
  if (names.prefixItems && Array.isArray(copy.items)) {
    copy.prefixItems = copy.items;
    copy.items = copy.additionalItems ?? true;
    delete copy.additionalItems;
  }
  return names.typedEnums ? withEnumType(simpler(copy)) : simpler(copy);
}

function withEnumType(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema.enum) || schema.type !== undefined) return schema;
  const types = [...new Set(schema.enum.map((value) => (value === null ? 'null' : typeof value)))];
  return { type: types.length === 1 ? types[0] : types, ...schema };
}

function define(name: string, schema: unknown, names: SchemaNames): void {
  if (!isSchema(schema)) return;
  const { $id: _, ...anonymous } = schema;
  remember(name, takeOutNames(anonymous, names) as JsonSchema, names);
}

function remember(name: string, schema: JsonSchema, names: SchemaNames): void {
  const known = names.found.get(name);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  names.found.set(name, schema);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
