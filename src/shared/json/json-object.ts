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

/** Whether a text is JSON. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The value of a JSON text; any other text as it is. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A JSON value with all its texts replaced, names and numbers included: a number whose text changes becomes a text. */
export function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value === 'number') {
    const text = replace(String(value));
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((element) => mapTexts(element, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [replace(name), mapTexts(member, replace)]),
  );
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Maps a list; returns the same list if no element changes. */
export function mapChanged<Item>(list: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  let mapped: Item[] | undefined;
  for (const [at, item] of list.entries()) {
    const made = change(item);
    if (made !== item) mapped ??= list.slice(0, at);
    mapped?.push(made);
  }
  return mapped ?? list;
}

/** Looks up an own property, so that untrusted names such as `constructor` find nothing. */
export function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined {
  return record !== undefined && typeof name === 'string' && Object.hasOwn(record, name)
    ? record[name]
    : undefined;
}
