/** Looks up an own property, so that untrusted names such as `constructor` find nothing. */
export function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined {
  return record !== undefined && typeof name === 'string' && Object.hasOwn(record, name)
    ? record[name]
    : undefined;
}
