import { arrayInstance, objectInstance } from './composite-instance.ts';
import { type Making, type Spot, TooLarge } from './generator-state.ts';
import { mergeSchemas, type Schema, Unsatisfiable } from './merge-schemas.ts';
import { patternSearch } from './pattern-search.ts';
import type { PromptValues } from './prompt-values.ts';
import { booleanValue, chosenValue, numberValue, stringValue } from './scalar-instance.ts';

/** More schemas than this are not read for one instance: nested references can ask for billions. */
const schemasMax = 10_000;
const depthMax = 60;

export interface InstanceOptions {
  prompt: PromptValues;
  /** `all` fills in optional properties; `offered` only those for which the prompt has a value. */
  optional: 'all' | 'offered';
  /** Asks for a value of this type where the schema leaves it open. */
  type?: 'object';
}

/**
 * A value that fits a JSON Schema (2020-12 and its forerunners), the same one for the same schema and prompt. Values that
 * the prompt offers are used where they fit. Throws Unsatisfiable or TooLarge when it finds none.
 */
export function instanceOf(schema: unknown, { prompt, optional, type }: InstanceOptions): unknown {
  const making: Making = {
    prompt,
    patterns: patternSearch(),
    optional,
    root: schema,
    open: new Set(),
    schemasLeft: schemasMax,
    value: (nested, spot) => valueFor(making, nested, spot),
  };
  const spot = { name: '', ordinal: 0, depth: 0 };
  return valueFor(making, { allOf: [{ $ref: '#' }, type === undefined ? {} : { type }] }, spot);
}

function valueFor(making: Making, schema: unknown, spot: Spot): unknown {
  if (spot.depth > depthMax) throw new TooLarge('it is nested too deeply');
  const entered: string[] = [];
  try {
    return valueOfFlat(making, flatten(making, schema, entered), spot);
  } finally {
    for (const reference of entered) making.open.delete(reference);
  }
}

/** The schema without references and conjunctions. References followed are added to `entered`. */
function flatten(making: Making, schema: unknown, entered: string[]): Schema {
  making.schemasLeft -= 1;
  if (making.schemasLeft < 0) throw new TooLarge('it asks for too much');
  if (schema === false) throw new Unsatisfiable('it allows nothing');
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return {};
  const { $ref, allOf, if: condition, then, else: _else, ...rest } = schema as Schema;
  let flat: Schema = rest;
  if (typeof $ref === 'string') {
    if (making.open.has($ref)) throw new Unsatisfiable('a reference in it leads back to itself');
    making.open.add($ref);
    entered.push($ref);
    flat = mergeSchemas(flatten(making, lookUp(making.root, $ref), entered), flat);
  }
  // Meeting the condition and what follows from it is always right; so `else` is never needed.
  const parts = [
    ...(Array.isArray(allOf) ? allOf : []),
    ...(condition === undefined ? [] : [condition, then]),
  ];
  for (const part of parts) flat = mergeSchemas(flat, flatten(making, part ?? true, entered));
  return flat;
}

function valueOfFlat(making: Making, schema: Schema, spot: Spot): unknown {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const { [keyword]: _branches, ...rest } = schema;
    return firstPossible(inOrder(making, branches), (branch) =>
      valueFor(making, { allOf: [rest, branch] }, spot),
    );
  }
  if (Object.hasOwn(schema, 'const')) return schema.const;
  if (Array.isArray(schema.enum)) return chosenValue(making, schema, schema.enum, spot);
  return firstPossible(typesOf(schema), (type) => valueOfType(making, schema, type, spot));
}

/** What the first candidate gives for which there is a value at all. */
function firstPossible<T>(candidates: readonly T[], make: (candidate: T) => unknown): unknown {
  let reason: unknown = new Unsatisfiable('it allows nothing');
  for (const candidate of candidates) {
    try {
      return make(candidate);
    } catch (error) {
      if (!(error instanceof Unsatisfiable)) throw error;
      reason = error;
    }
  }
  throw reason;
}

function valueOfType(making: Making, schema: Schema, type: unknown, spot: Spot): unknown {
  switch (type) {
    case 'object':
      return objectInstance(making, schema, spot);
    case 'array':
      return arrayInstance(making, schema, spot);
    case 'integer':
    case 'number':
      return numberValue(making, schema, type, spot);
    case 'boolean':
      return booleanValue(making, schema, spot);
    case 'null':
      return null;
    default:
      return stringValue(making, schema, spot);
  }
}

/** Alternatives that the prompt mentions first, null last. */
function inOrder(making: Making, branches: readonly unknown[]): unknown[] {
  const rank = (branch: unknown) => {
    if (typeof branch !== 'object' || branch === null) return 1;
    const { const: constant, type } = branch as Schema;
    if (typeof constant === 'string' && making.prompt.mentions(constant)) return 0;
    return type === 'null' ? 2 : 1;
  };
  return branches.toSorted((a, b) => rank(a) - rank(b));
}

function typesOf(schema: Schema): unknown[] {
  if (schema.type !== undefined) {
    return [schema.type].flat().toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
  }
  const has = (...keywords: string[]) => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has('properties', 'required', 'additionalProperties', 'minProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'contains')) return ['array'];
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf')) return ['number'];
  return ['string'];
}

/** What a reference inside the document points at. Source: RFC 6901, in the fragment of a URI. */
function lookUp(root: unknown, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new Unsatisfiable('a reference in it is not a path inside the schema');
  }
  let found = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decoded(part).replace(/~1/g, '/').replace(/~0/g, '~');
    const isInside = typeof found === 'object' && found !== null && Object.hasOwn(found, key);
    if (!isInside) throw new Unsatisfiable('a reference in it leads nowhere');
    found = (found as Schema)[key];
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
