import { decodePercent } from '../../../../shared/text/decode-percent.ts';
import { arrayInstance, objectInstance } from './composite-instance.ts';
import { type GeneratorState, type SchemaPosition, TooLarge } from './generator-state.ts';
import { mergeSchemas, type Schema, Unsatisfiable } from './merge-schemas.ts';
import { patternSearch } from './pattern-search.ts';
import type { PromptValues } from './prompt-values.ts';
import { booleanValue, chosenValue, numberValue, stringValue } from './scalar-instance.ts';

/** The most schemas read for one instance: nested references could require billions. */
const schemasMax = 10_000;
const depthMax = 60;

export interface InstanceOptions {
  prompt: PromptValues;
  /** `all` includes optional properties; `offered` only those for which the prompt has a value. */
  optional: 'all' | 'offered';
  /** The type of the value if the schema does not determine it. */
  type?: 'object';
}

/**
 * Generates a value that fits a JSON Schema (2020-12 and earlier), always the same for a schema and prompt. Values in the
 * prompt are used where they fit. Throws Unsatisfiable or TooLarge if there is none.
 */
export function instanceOf(schema: unknown, { prompt, optional, type }: InstanceOptions): unknown {
  const state: GeneratorState = {
    prompt,
    patterns: patternSearch(),
    optional,
    root: schema,
    open: new Set(),
    schemasLeft: schemasMax,
    value: (nested, position) => valueFor(state, nested, position),
  };
  const position = { name: '', ordinal: 0, depth: 0 };
  return valueFor(state, { allOf: [{ $ref: '#' }, type === undefined ? {} : { type }] }, position);
}

function valueFor(state: GeneratorState, schema: unknown, position: SchemaPosition): unknown {
  if (position.depth > depthMax) throw new TooLarge('it is nested too deeply');
  const followed: string[] = [];
  try {
    return valueOfFlat(state, flatten(state, schema, followed), position);
  } finally {
    for (const reference of followed) state.open.delete(reference);
  }
}

/** Resolves references and conjunctions of a schema. Adds the references to `followed`. */
function flatten(state: GeneratorState, schema: unknown, followed: string[]): Schema {
  state.schemasLeft -= 1;
  if (state.schemasLeft < 0) throw new TooLarge('it requires too many values');
  if (schema === false) throw new Unsatisfiable('it allows nothing');
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return {};
  const { $ref, allOf, if: condition, then, else: _else, ...rest } = schema as Schema;
  let flat: Schema = rest;
  if (typeof $ref === 'string') {
    if (state.open.has($ref)) throw new Unsatisfiable('a reference in it leads back to itself');
    state.open.add($ref);
    followed.push($ref);
    flat = mergeSchemas(flatten(state, lookUp(state.root, $ref), followed), flat);
  }
  // A value that satisfies `if` and `then` always fits, so `else` is not needed.
  const parts = [
    ...(Array.isArray(allOf) ? allOf : []),
    ...(condition === undefined ? [] : [condition, then]),
  ];
  for (const part of parts) flat = mergeSchemas(flat, flatten(state, part ?? true, followed));
  return flat;
}

function valueOfFlat(state: GeneratorState, schema: Schema, position: SchemaPosition): unknown {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const { [keyword]: _branches, ...rest } = schema;
    return firstPossible(byPreference(state, branches), (branch) =>
      valueFor(state, { allOf: [rest, branch] }, position),
    );
  }
  if (Object.hasOwn(schema, 'const')) return schema.const;
  if (Array.isArray(schema.enum)) return chosenValue(state, schema, schema.enum, position);
  return firstPossible(typesOf(schema), (type) => valueOfType(state, schema, type, position));
}

/** The value of the first candidate that has one. */
function firstPossible<T>(candidates: readonly T[], make: (candidate: T) => unknown): unknown {
  let failure: unknown = new Unsatisfiable('it allows nothing');
  for (const candidate of candidates) {
    try {
      return make(candidate);
    } catch (error) {
      if (!(error instanceof Unsatisfiable)) throw error;
      failure = error;
    }
  }
  throw failure;
}

function valueOfType(
  state: GeneratorState,
  schema: Schema,
  type: unknown,
  position: SchemaPosition,
): unknown {
  switch (type) {
    case 'object':
      return objectInstance(state, schema, position);
    case 'array':
      return arrayInstance(state, schema, position);
    case 'integer':
    case 'number':
      return numberValue(state, schema, type, position);
    case 'boolean':
      return booleanValue(state, schema, position);
    case 'null':
      return null;
    default:
      return stringValue(state, schema, position);
  }
}

/** Sorts alternatives: those mentioned in the prompt first, null last. */
function byPreference(state: GeneratorState, branches: readonly unknown[]): unknown[] {
  const rank = (branch: unknown) => {
    if (typeof branch !== 'object' || branch === null) return 1;
    const { const: constant, type } = branch as Schema;
    if (typeof constant === 'string' && state.prompt.mentions(constant)) return 0;
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

/** Resolves a reference within the schema. Source: RFC 6901, URI fragment representation. */
function lookUp(root: unknown, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) {
    throw new Unsatisfiable('a reference in it is not a path inside the schema');
  }
  let found = root;
  for (const part of reference.split('/').slice(1)) {
    const key = decodePercent(part).replace(/~1/g, '/').replace(/~0/g, '~');
    const isInside = typeof found === 'object' && found !== null && Object.hasOwn(found, key);
    if (!isInside) throw new Unsatisfiable('a reference in it leads nowhere');
    found = (found as Schema)[key];
  }
  return found;
}
