/** A parsed JSON object whose members are not known. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object in a JSON text; undefined for anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Looks up an own property, so that untrusted names such as `constructor` find nothing. */
export function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined {
  return record !== undefined && typeof name === 'string' && Object.hasOwn(record, name)
    ? record[name]
    : undefined;
}
