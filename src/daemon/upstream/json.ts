import { isObject, type JsonObject as Json, listOf, mapChanged } from '../../shared/json/json-object.ts';
import { mayBeDeep, parseWithExactValues, shapeFault, unbounded } from '../../shared/json/json-text.ts';

export { isObject, type Json, mapChanged };

/**
 * How deeply a provider's JSON may be nested: more than any real answer, even one that echoes the request, and less than
 * what overflows the stack of recursive code.
 */
export const nestingMax = 256;

/** Whether JSON text is nested more deeply than `nestingMax`. */
export function isTooDeep(text: string): boolean {
  if (!mayBeDeep(text, nestingMax)) return false;
  return shapeFault(Buffer.from(text), { ...unbounded, depthMax: nestingMax }) !== undefined;
}

/** Parses a JSON object; undefined for anything else, or if it is nested too deeply. */
export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = isTooDeep(text) ? undefined : parseWithExactValues(text);
    return objectOf(value);
  } catch {
    return undefined;
  }
}

/** The value if it is an object, else undefined. */
export function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

export function objectsOf(value: unknown): Json[] {
  return listOf(value).filter(isObject);
}

/** The value if it is a string, else undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value if it is a non-negative integer, which some servers write as text, else undefined. */
export function countOf(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

/** Whether the values that are there are counts, and one is. Of usage with other values, such as -1, nothing is known. */
export function areCounts(...values: unknown[]): boolean {
  const present = values.filter((value) => value !== undefined && value !== null);
  return present.length > 0 && present.every((value) => countOf(value) !== undefined);
}
