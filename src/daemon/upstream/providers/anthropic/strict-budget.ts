import { type Json, listOf, objectOf } from '../json-value.ts';

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
