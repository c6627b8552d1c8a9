export type Schema = Record<string, unknown>;

/** No value fits the schema, or the simulator cannot find one. Another branch may still be possible. */
export class Unsatisfiable extends Error {}

type Combine = (a: never, b: never) => unknown;

const stricter = {
  larger: (a: number, b: number) => Math.max(a, b),
  smaller: (a: number, b: number) => Math.min(a, b),
};

/** How to combine two values of a keyword. For other keywords, the second value wins. */
const combinations = new Map<string, Combine>(
  Object.entries({
    minimum: stricter.larger,
    exclusiveMinimum: stricter.larger,
    minLength: stricter.larger,
    minItems: stricter.larger,
    minProperties: stricter.larger,
    maximum: stricter.smaller,
    exclusiveMaximum: stricter.smaller,
    maxLength: stricter.smaller,
    maxItems: stricter.smaller,
    maxProperties: stricter.smaller,
    required: (a: string[], b: string[]) => [...new Set([...a, ...b])],
    type: intersectTypes,
    enum: intersectEnums,
    properties: mergeProperties,
    items: allOfBoth,
    additionalProperties: allOfBoth,
    anyOf: crossAlternatives,
    oneOf: crossAlternatives,
  }),
);

/** A schema equivalent to `allOf: [a, b]` at the top level; nested schemas are joined with `allOf`. */
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

/** Invalid values of a keyword are not combined. */
function sameKind(a: unknown, b: unknown): boolean {
  const kinds = new Set([a, b].map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  return kinds.size === 1 || !(kinds.has('number') || kinds.has('undefined'));
}

function allOfBoth(a: unknown, b: unknown): unknown {
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
  if (common.length === 0) throw new Unsatisfiable('two parts of it require different types');
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

/** The value of a keyword if it is a number. */
export function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
