import { type Json, listOf, objectOf } from '../../json.ts';
import { modernSchema } from '../tool-schema.ts';

/** Keywords that structured outputs refuse; they are told to the model in words. */
const unenforced = [
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
/** Keywords that change what fits, and can neither be enforced nor left out. */
const unsayable = [
  ...['not', 'if', 'contains', 'prefixItems', 'propertyNames', 'patternProperties'],
  ...['dependentSchemas', 'dependentRequired', 'unevaluatedProperties', 'unevaluatedItems'],
];
const formats = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);
/** Assertions and references back, which no grammar can follow. */
const unenforcedPattern = /\(\?(?:[=!]|<[=!])|\\[bB1-9]/;
const schemaMaps = ['properties', '$defs', 'definitions'];
const schemaLists = ['anyOf', 'allOf', 'prefixItems'];

/**
 * A JSON Schema as structured outputs and strict tools take it: every object closed, and bounds, which are not
 * enforced there, moved to the description. Source: Anthropic's documentation, "Structured outputs", limitations.
 */
export function strictSchema(schema: Json): Json {
  const { oneOf, ...rest } = schema;
  const strict: Json = rest;
  const untold: string[] = [];
  for (const keyword of [...unenforced, 'format', 'pattern']) {
    if (!(keyword in strict) || isEnforced(keyword, strict[keyword])) continue;
    untold.push(`${keyword}: ${JSON.stringify(strict[keyword])}`);
    delete strict[keyword];
  }
  if (typeof strict.minItems === 'number' && strict.minItems > 1) {
    untold.push(`minItems: ${strict.minItems}`);
    strict.minItems = 1;
  }
  if (oneOf !== undefined) strict.anyOf = [...listOf(strict.anyOf), ...listOf(oneOf)];
  for (const keyword of schemaMaps) {
    const map = objectOf(strict[keyword]);
    if (map)
      strict[keyword] = Object.fromEntries(
        Object.entries(map).map(([name, sub]) => [name, strictOrSame(sub)]),
      );
  }
  for (const keyword of schemaLists) {
    if (Array.isArray(strict[keyword])) strict[keyword] = listOf(strict[keyword]).map(strictOrSame);
  }
  if (strict.items !== undefined) strict.items = strictOrSame(strict.items);
  if (isObjectType(strict)) strict.additionalProperties = false;
  if (untold.length > 0)
    strict.description = [strict.description, `(${untold.join(', ')})`].filter(Boolean).join(' ');
  return strict;
}

function isEnforced(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return typeof value === 'string' && formats.has(value);
  return keyword === 'pattern' && typeof value === 'string' && !unenforcedPattern.test(value);
}

/** Deeper than this nobody nests on purpose. */
const depthMax = 100;

/**
 * Whether structured outputs can say what a schema says: no free objects, which would have to be closed, no schema within
 * itself, and none of the keywords that they do not know.
 */
export function isStrictable(schema: Json): boolean {
  return isStrictableWithin(schema, { root: schema, open: [], sound: new Set(), depth: 0 });
}

interface Whereabouts {
  root: Json;
  depth: number;
  /** The references that lead here. */
  open: readonly string[];
  /** References that were followed before: each only once, however many lead there. */
  sound: Set<string>;
}

function isStrictableWithin(schema: unknown, at: Whereabouts): boolean {
  const { $ref: reference, ...rest } = objectOf(schema) ?? {};
  if (at.depth > depthMax) return false;
  if (typeof reference === 'string') return isStrictableReference(reference, at);
  if (unsayable.some((keyword) => keyword in rest)) return false;
  if (listOf(rest.enum).some((value) => typeof value === 'object' && value !== null)) return false;
  const properties = Object.values(objectOf(rest.properties) ?? {});
  if (isObjectType(rest) && properties.length === 0) return false;
  if (rest.additionalProperties !== undefined && rest.additionalProperties !== false) return false;
  const lists = [...schemaLists, 'oneOf'].flatMap((keyword) => listOf(rest[keyword]));
  const items = rest.items === undefined ? [] : [rest.items];
  const below = { ...at, depth: at.depth + 1 };
  return [...properties, ...lists, ...items].every((sub) => isStrictableWithin(sub, below));
}

function isStrictableReference(reference: string, at: Whereabouts): boolean {
  if (at.open.includes(reference)) return false;
  if (at.sound.has(reference)) return true;
  const target = lookUp(at.root, reference);
  const below = { ...at, depth: at.depth + 1, open: [...at.open, reference] };
  if (target === undefined || !isStrictableWithin(target, below)) return false;
  at.sound.add(reference);
  return true;
}

/** `#/$defs/Name` within the schema; nothing else can be referred to. */
function lookUp(root: Json, reference: string): Json | undefined {
  const [hash, ...path] = reference.split('/');
  if (hash !== '#' || path.length === 0) return undefined;
  return path.reduce<Json | undefined>((schema, name) => objectOf(schema?.[name]), root);
}

/**
 * A tool's parameters as `input_schema`, whose root must be an object without alternatives. A root of alternatives
 * becomes one object with all their properties, of which only the common ones are required.
 */
export function inputSchema(parameters: Json | undefined): Json {
  if (!parameters) return { type: 'object', properties: {} };
  const { anyOf, oneOf, allOf, ...rest } = modernSchema(parameters);
  const branches = [...listOf(anyOf), ...listOf(oneOf)].map((branch) => objectOf(branch) ?? {});
  const parts = listOf(allOf).map((part) => objectOf(part) ?? {});
  const schema: Json = { ...rest, type: 'object' };
  if (branches.length === 0 && parts.length === 0) return schema;

  const properties = Object.assign(
    {},
    ...[...branches, ...parts, rest].map((each) => objectOf(each.properties) ?? {}),
  );
  const required = new Set([rest, ...parts].flatMap((each) => listOf(each.required)));
  for (const name of listOf(branches[0]?.required)) {
    if (branches.every((branch) => listOf(branch.required).includes(name))) required.add(name);
  }
  return { ...schema, properties, required: [...required] };
}

function strictOrSame(schema: unknown): unknown {
  const object = objectOf(schema);
  return object ? strictSchema(object) : schema;
}

function isObjectType({ type, properties }: Json): boolean {
  return type === 'object' || properties !== undefined || (Array.isArray(type) && type.includes('object'));
}

/** Every schema that is enforced goes into one grammar, which may hold no more than that of each. */
const toolsMax = 20;
const optionalMax = 24;
const unionsMax = 16;

/**
 * What the enforced schemas of one request may hold together: a request with more is refused as a whole, so what does
 * not fit is not enforced. Source: Anthropic's documentation, "Structured outputs", schema complexity limits.
 */
export class StrictBudget {
  #tools = toolsMax;
  #optional = optionalMax;
  #unions = unionsMax;

  /** Whether a tool's schema fits beside what was taken before; it is taken then. */
  takesTool(schema: Json): boolean {
    if (this.#tools === 0 || !this.takes(schema)) return false;
    this.#tools -= 1;
    return true;
  }

  /** The same of the schema of an answer. */
  takes(schema: Json): boolean {
    const { optional, unions } = complexityOf(schema);
    if (optional > this.#optional || unions > this.#unions) return false;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

/** Properties that may be left out, and those of several types; each counts once, however often it is referred to. */
function complexityOf(schema: Json): { optional: number; unions: number } {
  const sum = { optional: 0, unions: 0 };
  const waiting: unknown[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { type, properties, required, $defs, definitions, items, ...rest } = objectOf(next) ?? {};
    const alternatives = [...listOf(rest.anyOf), ...listOf(rest.oneOf)];
    if ((Array.isArray(type) && type.length > 1) || alternatives.length > 1) sum.unions += 1;
    const named = objectOf(properties) ?? {};
    const needed = new Set(listOf(required));
    sum.optional += Object.keys(named).filter((name) => !needed.has(name)).length;
    const below = [named, objectOf($defs) ?? {}, objectOf(definitions) ?? {}].flatMap(Object.values);
    for (const schema of [...below, ...alternatives, ...listOf(rest.allOf)]) waiting.push(schema);
    if (items !== undefined) waiting.push(items);
  }
  return sum;
}
