import { shapeFault } from '../../shared/json-shape.ts';

/**
 * How deeply a provider's JSON may be nested: far more than any answer is, also one that repeats what its caller sent,
 * and far less than overflows the stack of what walks over it or writes it anew.
 */
export const nestingMax = 256;

/** Whether JSON text is nested more deeply than that. */
export function isTooDeep(text: string): boolean {
  // The events of a stream are mostly too short for it, and most others have too few brackets.
  if (text.length <= 2 * nestingMax || bracketsIn(text) <= nestingMax) return false;
  const bounds = { depthMax: nestingMax, membersMax: Number.POSITIVE_INFINITY };
  return shapeFault(Buffer.from(text), bounds) === 'deep';
}

/** How many brackets are opened, in strings or not; counts no further than past the limit. */
function bracketsIn(text: string): number {
  let count = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > nestingMax) return count;
    }
  }
  return count;
}

/** An object of JSON that came from outside. */
export type Json = Record<string, unknown>;

/** The value, if it is a JSON object. */
export function objectOf(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

/** The value, if it is a list; else an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value, if it is a whole number from 0. */
export function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The arguments of a call as the object that providers with object arguments insist on. */
export function argumentsObject(text: string): Json {
  return parseObject(text) ?? (text.trim() === '' ? {} : { value: text });
}

/** JSON text as an object; undefined when it is anything else, or nested too deeply. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = isTooDeep(text) ? undefined : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
