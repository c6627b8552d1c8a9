import type { Key } from '../shared/contract/keys.ts';
import type { Session } from '../shared/contract/people.ts';

/** The names of keys and logins, by id. */
export type KeyNames = ReadonlyMap<string, string>;

/**
 * The names of keys and logins: with a mark if a key was revoked, and with the end of the id if another key in use, or
 * another login, has the same name.
 */
export function namesOf(
  keys: readonly Pick<Key, 'id' | 'name' | 'status'>[],
  logins: readonly Pick<Session, 'id' | 'name'>[] = [],
): Map<string, string> {
  const { revoked = [], others = [] } = Object.groupBy(keys, ({ status }) =>
    status === 'revoked' ? 'revoked' : 'others',
  );
  return new Map([
    ...distinctNames(logins).map(([id, name]) => [id, `login ${name}`] as const),
    ...distinctNames(others),
    ...revoked.map(({ id, name }) => [id, `${name || id} (revoked)`] as const),
  ]);
}

/** Whether a key can make calls, or can again once it is resumed. */
export function isInUse({ status }: Pick<Key, 'status'>): boolean {
  return status === 'active' || status === 'paused';
}

/** The name of a key in a list of keys, with the end of its id if another key in use has the same name. */
export function listedName(
  key: Pick<Key, 'id' | 'name' | 'status'>,
  keys: readonly Pick<Key, 'id' | 'name' | 'status'>[],
): string {
  const { id, name } = key;
  const hasTwin = keys.some((other) => other.id !== id && other.name === name && isInUse(other));
  return isInUse(key) && name !== '' && hasTwin ? withEndOfId({ id, name }) : name;
}

function withEndOfId({ id, name }: { id: string; name: string }): string {
  return `${name} (…${id.slice(-4)})`;
}

/** The id of each row, and its name: with the end of the id if another row has the same name. */
function distinctNames(
  rows: readonly { id: string; name: string }[],
): (readonly [id: string, name: string])[] {
  const uses = new Map<string, number>();
  for (const { name } of rows) uses.set(name, (uses.get(name) ?? 0) + 1);
  return rows.map((row) => [
    row.id,
    row.name !== '' && (uses.get(row.name) ?? 0) > 1 ? withEndOfId(row) : row.name || row.id,
  ]);
}

/** The key or login of a call as users read it: its name if it is known, else its id. */
export function keyText(key: string | null, names: KeyNames): string {
  return key === null ? 'login' : (names.get(key) ?? key);
}

/** The caller of a call: a key or login, or the address of an unknown caller. */
export function callerText(
  { key, address }: { key: string | null; address?: string | null | undefined },
  names: KeyNames,
): string {
  return key === null && address ? address : keyText(key, names);
}
