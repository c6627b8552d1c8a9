import { type JsonSchema, simpler } from './simpler-schema.ts';

export type { JsonSchema };

/**
 * Contracts name schemas by `$id`, and recursive ones by `$defs`. Neither is portable: validators reject an `$id` they
 * see twice, and nested `$defs` cannot be referenced. This module extracts named schemas.
 */

/** Where extracted schemas go, and how they are referenced. */
export interface SchemaNames {
  /** The prefix of a `$ref`: `#/components/schemas/`. */
  pointer: string;
  /** Whether schemas with an `$id` are extracted too; otherwise they stay in place without it. */
  moveNamed: boolean;
  /** Whether tuples use `prefixItems`, as in JSON Schema 2020-12. */
  prefixItems: boolean;
  /** Whether enumerations include their type, which client generators expect. */
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

/** Returns a copy of `schema` with all named schemas moved to `names.found`. */
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

/** A self-contained schema for a validator: without `$id`, and with its `$defs` at the root. */
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
