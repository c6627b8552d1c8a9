export type Schema = Record<string, unknown>;

/** No value fits the schema, or none that the simulator can find; another branch may do. */
export class Unsatisfiable extends Error {}

type Combine = (a: never, b: never) => unknown;

const tighter = {
  larger: (a: number, b: number) => Math.max(a, b),
  smaller: (a: number, b: number) => Math.min(a, b),
};

/** How two schemas' values of one keyword become the one that means both. For the others, the second one wins. */
const combinations = new Map<string, Combine>(
  Object.entries({
    minimum: tighter.larger,
    exclusiveMinimum: tighter.larger,
    minLength: tighter.larger,
    minItems: tighter.larger,
    minProperties: tighter.larger,
    maximum: tighter.smaller,
    exclusiveMaximum: tighter.smaller,
    maxLength: tighter.smaller,
    maxItems: tighter.smaller,
    maxProperties: tighter.smaller,
    required: (a: string[], b: string[]) => [...new Set([...a, ...b])],
    type: intersectTypes,
    enum: intersectEnums,
    properties: mergeProperties,
    items: both,
    additionalProperties: both,
    anyOf: crossAlternatives,
    oneOf: crossAlternatives,
  }),
);

/** One schema that asks for all that `a` and `b` ask for. Nested schemas are joined by `allOf`, so it stays shallow. */
export function mergeSchemas(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...a };
  for (const [keyword, value] of Object.entries(b)) {
    const combine = combinations.get(keyword) as ((a: unknown, b: unknown) => unknown) | undefined;
    merged[keyword] =
      combine && Object.hasOwn(a, keyword) && sameKind(a[keyword], value)
        ? combine(a[keyword], value)
        : value;
  }
  return merged;
}

/** A keyword with the wrong kind of value is not worth an exception of ours. */
function sameKind(a: unknown, b: unknown): boolean {
  const kinds = new Set([a, b].map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  return kinds.size === 1 || !(kinds.has('number') || kinds.has('undefined'));
}

function both(a: unknown, b: unknown): unknown {
  if (a === false || b === false) return false;
  return { allOf: [a, b] };
}

function intersectTypes(a: string | string[], b: string | string[]): string[] {
  const first = [a].flat();
  const second = [b].flat();
  const common = first.flatMap((type) => {
    if (second.includes(type)) return [type];
    if (type === 'integer' && second.includes('number')) return [type];
    return type === 'number' && second.includes('integer') ? ['integer'] : [];
  });
  if (common.length === 0) throw new Unsatisfiable('two parts of it ask for different types');
  return common;
}

function intersectEnums(a: unknown[], b: unknown[]): unknown[] {
  const allowed = new Set(b.map((value) => JSON.stringify(value)));
  const common = a.filter((value) => allowed.has(JSON.stringify(value)));
  if (common.length === 0) throw new Unsatisfiable('two parts of it allow different values');
  return common;
}

function mergeProperties(a: Schema, b: Schema): Schema {
  const merged: Schema = { ...a };
  for (const [name, schema] of Object.entries(b)) {
    merged[name] = Object.hasOwn(a, name) ? { allOf: [a[name], schema] } : schema;
  }
  return merged;
}

function crossAlternatives(a: unknown[], b: unknown[]): unknown[] {
  return a.flatMap((first) => b.map((second) => ({ allOf: [first, second] })));
}
