import type { Client } from '../../shared/client.ts';
import type { Key } from '../../shared/contract/keys.ts';
import type { Session } from '../../shared/contract/people.ts';
import type { Context } from '../context.ts';
import { collectPages } from '../hosts/pages.ts';
import { getKey, listKeys, listSessions } from '../manifest/endpoints.ts';

/** What users read in place of the ids of keys and logins. */
export type KeyNames = ReadonlyMap<string, string>;

const keysMax = 1000;

/**
 * The names of keys and logins: with a mark if a key was revoked, and with the end of the id if another key in use has the
 * same name.
 */
export function namesOf(
  keys: readonly Pick<Key, 'id' | 'name' | 'status'>[],
  logins: readonly Pick<Session, 'id' | 'name'>[] = [],
): Map<string, string> {
  const inUse = new Map<string, number>();
  for (const { name, status } of keys) if (status !== 'revoked') inUse.set(name, (inUse.get(name) ?? 0) + 1);
  const nameOf = ({ id, name, status }: (typeof keys)[number]) => {
    if (status === 'revoked') return `${name || id} (revoked)`;
    return name !== '' && (inUse.get(name) ?? 0) > 1 ? `${name} (…${id.slice(-4)})` : name || id;
  };
  return new Map([
    ...logins.map(({ id, name }) => [id, `login ${name}`] as const),
    ...keys.map((key) => [key.id, nameOf(key)] as const),
  ]);
}

/** The key or login of a call as users read it: its name if it is known, else its id. */
export function keyText(key: string | null, names: KeyNames): string {
  return key === null ? 'login' : (names.get(key) ?? key);
}

/** Who made a call: a key or login, or the address of an unknown caller. */
export function callerText(
  { key, address }: { key: string | null; address?: string | null | undefined },
  names: KeyNames,
): string {
  return key === null && address ? address : keyText(key, names);
}

/** The user's own logins; a key has none. */
export async function loginsOf(client: Client): Promise<readonly Session[]> {
  try {
    return (await client.call(listSessions, { query: { limit: 100 } })).data;
  } catch {
    return [];
  }
}

/** Names for a table on a terminal; pipes and JSON contain ids. */
export function keyNamesFor({ io, out, client }: Context): Promise<KeyNames> {
  const isRead = io.stdout.isTty && !out.wantsJson() && !out.isQuiet();
  return isRead ? loadKeyNames(client()) : Promise.resolve(new Map());
}

/** What the caller may list: the keys of the workspace and their own logins, or only the calling key. */
async function loadKeyNames(client: Client): Promise<KeyNames> {
  const params = { workspace: 'me' };
  try {
    const keys = await collectPages(keysMax, (query) => client.call(listKeys, { params, query }));
    return namesOf(keys, await loginsOf(client));
  } catch {
    // Ids remain.
    const own = await client.call(getKey, {}).catch(() => undefined);
    return own ? namesOf([{ id: own.id, name: own.name, status: 'active' }]) : new Map();
  }
}
