/** What a record holds under a name that somebody else made up: `constructor` and the like are nothing. */
export function ownValue<T>(record: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined {
  return record !== undefined && typeof name === 'string' && Object.hasOwn(record, name)
    ? record[name]
    : undefined;
}
