import type { Client } from '../../shared/client.ts';
import type { Session } from '../../shared/contract/people.ts';
import { getKey, listKeys, listSessions } from '../../shared/endpoints.ts';
import { type KeyNames, namesOf } from '../../view/key-names.ts';
import type { Context } from '../context.ts';
import { collectPages } from '../hosts/pages.ts';

const keysMax = 1000;

/** The user's own logins; a key has none. */
export async function loginsOf(client: Client): Promise<readonly Session[]> {
  try {
    return (await client.call(listSessions, { query: { limit: 100 } })).data;
  } catch {
    return [];
  }
}

/** Names for a table on a terminal or in a spreadsheet; pipes and JSON contain ids, with `inJson` also names. */
export function keyNamesFor({ io, out, client, flags }: Context, { inJson = false } = {}): Promise<KeyNames> {
  const isRead = io.stdout.isTty && !out.wantsJson() && !out.isQuiet();
  return isRead || flags.csv || (inJson && out.wantsJson())
    ? loadKeyNames(client())
    : Promise.resolve(new Map());
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
