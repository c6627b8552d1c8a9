import { listOf } from '../../../../shared/json/json-object.ts';
import { type Json, objectOf } from '../../json.ts';
import { modernSchema, validSchema, withoutAlternatives } from '../tool-schema.ts';

/** Keywords that structured outputs refuse; they are moved to the description. */
const describedKeywords = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];
/** Keywords that change which values fit, and can neither be enforced nor left out. */
const unsupportedKeywords = [
  ...['not', 'if', 'contains', 'prefixItems', 'propertyNames', 'patternProperties'],
  ...['dependentSchemas', 'dependentRequired', 'unevaluatedProperties', 'unevaluatedItems'],
];
const enforcedFormats = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);
/** Assertions and back references, which a grammar cannot express. */
const unenforcedPattern = /\(\?(?:[=!]|<[=!])|\\[bB1-9]/;
const schemaMaps = ['properties', '$defs', 'definitions'];
const schemaLists = ['anyOf', 'allOf', 'prefixItems'];

/**
 * A JSON Schema as structured outputs and strict tools accept it: every object is closed, and bounds, which are not
 * enforced, are moved to the description. Source: Anthropic's documentation, "Structured outputs", limitations.
 */
export function strictSchema(schema: Json): Json {
  const { oneOf, ...rest } = schema;
  const strict: Json = rest;
  const described: string[] = [];
  for (const keyword of [...describedKeywords, 'format', 'pattern']) {
    if (!(keyword in strict) || isEnforced(keyword, strict[keyword])) continue;
    described.push(`${keyword}: ${JSON.stringify(strict[keyword])}`);
    delete strict[keyword];
  }
  if (typeof strict.minItems === 'number' && strict.minItems > 1) {
    described.push(`minItems: ${strict.minItems}`);
    strict.minItems = 1;
  }
  if (oneOf !== undefined) strict.anyOf = [...listOf(strict.anyOf), ...listOf(oneOf)];
  for (const keyword of schemaMaps) {
    const map = objectOf(strict[keyword]);
    if (map)
      strict[keyword] = Object.fromEntries(Object.entries(map).map(([name, sub]) => [name, toStrict(sub)]));
  }
  for (const keyword of schemaLists) {
    if (Array.isArray(strict[keyword])) strict[keyword] = listOf(strict[keyword]).map(toStrict);
  }
  if (strict.items !== undefined) strict.items = toStrict(strict.items);
  if (isObjectType(strict)) strict.additionalProperties = false;
  if (described.length > 0)
    strict.description = [strict.description, `(${described.join(', ')})`].filter(Boolean).join(' ');
  return strict;
}

function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && enforcedFormats.has(value);
  return keyword === 'pattern' && typeof value === 'string' && !unenforcedPattern.test(value);
}

/** No reasonable schema is nested more deeply. */
const depthMax = 100;

/**
 * Whether structured outputs can express a schema: no open objects, which would have to be closed, no recursion, and no
 * unsupported keywords.
 */
export function canBeStrict(schema: Json): boolean {
  return isStrictAt(schema, { root: schema, open: [], passed: new Set(), depth: 0 });
}

interface StrictCheck {
  root: Json;
  depth: number;
  /** The references being followed. */
  open: readonly string[];
  /** References that passed the check: each is checked once, however often it is used. */
  passed: Set<string>;
}

function isStrictAt(schema: unknown, at: StrictCheck): boolean {
  const { $ref: reference, ...rest } = objectOf(schema) ?? {};
  if (at.depth > depthMax) return false;
  if (typeof reference === 'string') return isStrictReference(reference, at);
  if (unsupportedKeywords.some((keyword) => keyword in rest)) return false;
  if (listOf(rest.enum).some((value) => typeof value === 'object' && value !== null)) return false;
  const properties = Object.values(objectOf(rest.properties) ?? {});
  if (isObjectType(rest) && properties.length === 0) return false;
  if (rest.additionalProperties !== undefined && rest.additionalProperties !== false) return false;
  const lists = [...schemaLists, 'oneOf'].flatMap((keyword) => listOf(rest[keyword]));
  const items = rest.items === undefined ? [] : [rest.items];
  const below = { ...at, depth: at.depth + 1 };
  return [...properties, ...lists, ...items].every((sub) => isStrictAt(sub, below));
}

function isStrictReference(reference: string, at: StrictCheck): boolean {
  if (at.open.includes(reference)) return false;
  if (at.passed.has(reference)) return true;
  const target = lookUp(at.root, reference);
  const below = { ...at, depth: at.depth + 1, open: [...at.open, reference] };
  if (target === undefined || !isStrictAt(target, below)) return false;
  at.passed.add(reference);
  return true;
}

/** Resolves `#/$defs/Name`, the only supported form of reference. */
function lookUp(root: Json, reference: string): Json | undefined {
  const [hash, ...path] = reference.split('/');
  if (hash !== '#' || path.length === 0) return undefined;
  return path.reduce<Json | undefined>((schema, name) => objectOf(schema?.[name]), root);
}

/** A tool's parameters as `input_schema`, whose root must be an object. */
export function inputSchema(parameters: Json | undefined): Json {
  if (!parameters) return { type: 'object', properties: {} };
  return { ...withoutAlternatives(modernSchema(validSchema(parameters))), type: 'object' };
}

function toStrict(schema: unknown): unknown {
  const object = objectOf(schema);
  return object ? strictSchema(object) : schema;
}

function isObjectType({ type, properties }: Json): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));
}

/** Limits of one request's grammar, which combines all enforced schemas. */
const toolsMax = 20;
const optionalMax = 24;
const unionsMax = 16;

/**
 * The complexity that the enforced schemas of one request may have together: a request over the limit is refused as a
 * whole, so schemas that exceed it are not enforced. Source: Anthropic's documentation, "Structured outputs", schema
 * complexity limits.
 */
export class StrictBudget {
  #tools = toolsMax;
  #optional = optionalMax;
  #unions = unionsMax;

  /** Reserves room for a tool's schema; false if it does not fit. */
  reserveTool(schema: Json): boolean {
    if (this.#tools === 0 || !this.reserve(schema)) return false;
    this.#tools -= 1;
    return true;
  }

  /** Reserves room for the schema of the answer; false if it does not fit. */
  reserve(schema: Json): boolean {
    const { optional, unions } = complexityOf(schema);
    if (optional > this.#optional || unions > this.#unions) return false;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

/** Counts optional properties and unions. Each definition counts once, however often it is referenced. */
function complexityOf(schema: Json): { optional: number; unions: number } {
  const sum = { optional: 0, unions: 0 };
  const pending: unknown[] = [schema];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { type, properties, required, $defs, definitions, items, ...rest } = objectOf(next) ?? {};
    const alternatives = [...listOf(rest.anyOf), ...listOf(rest.oneOf)];
    if ((Array.isArray(type) && type.length > 1) || alternatives.length > 1) sum.unions += 1;
    const members = objectOf(properties) ?? {};
    const requiredNames = new Set(listOf(required));
    sum.optional += Object.keys(members).filter((name) => !requiredNames.has(name)).length;
    const nested = [members, objectOf($defs) ?? {}, objectOf(definitions) ?? {}].flatMap(Object.values);
    for (const schema of [...nested, ...alternatives, ...listOf(rest.allOf)]) pending.push(schema);
    if (items !== undefined) pending.push(items);
  }
  return sum;
}
