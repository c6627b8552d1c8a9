import type { KeysStore } from '../../../features/keys/store.ts';
import { and, desc, eq, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { keys, previousSecrets } from './tables.ts';
import type { KeysWrites } from './writes.ts';

export function keysStore({ orm, writer }: StoreContext<KeysWrites>): KeysStore {
  const find = (workspaceId: string, keyId: string) =>
    orm
      .select()
      .from(keys)
      .where(and(eq(keys.id, keyId), eq(keys.workspaceId, workspaceId)))
      .get();

  // Prepared, as it runs for each call whose key is not in memory.
  const byDigest = orm
    .select()
    .from(keys)
    .where(eq(keys.digest, sql.placeholder('digest')))
    .prepare();

  return {
    insert: (record) => writer.write('keys.insert', record),
    byDigest: async (digest) => byDigest.get({ digest }),
    byId: async (workspaceId, keyId) => find(workspaceId, keyId),
    list: async (workspaceId, { limit, after }) => {
      const last = after === undefined ? undefined : find(workspaceId, after);
      if (after !== undefined && !last) return [];
      // One comparison of both columns, so that the index leads to the page.
      const isLater = last && sql`(${keys.createdAt}, ${keys.id}) < (${last.createdAt}, ${last.id})`;
      return orm
        .select()
        .from(keys)
        .where(and(eq(keys.workspaceId, workspaceId), isLater))
        .orderBy(desc(keys.createdAt), desc(keys.id))
        .limit(limit)
        .all();
    },
    revoke: (workspaceId, keyId, at) => writer.write('keys.revoke', { workspaceId, keyId, at }),
    setLimits: (workspaceId, keyId, limits, before) =>
      writer.write('keys.setLimits', { workspaceId, keyId, limits, before }),
    setDefaults: (workspaceId, keyId, defaults, before) =>
      writer.write('keys.setDefaults', { workspaceId, keyId, defaults, before }),
    rotate: (rotation) => writer.write('keys.rotate', rotation),
    setPaused: (workspaceId, keyId, pausedAt) =>
      writer.write('keys.setPaused', { workspaceId, keyId, pausedAt }),
    previousByDigest: async (digest) =>
      orm.select().from(previousSecrets).where(eq(previousSecrets.digest, digest)).get(),
    previousOf: async (keyId) =>
      orm
        .select()
        .from(previousSecrets)
        .where(eq(previousSecrets.keyId, keyId))
        .orderBy(desc(previousSecrets.replacedAt), desc(previousSecrets.digest))
        .all(),
    touchPrevious: (uses) => writer.write('keys.touchPrevious', uses),
    touch: (uses) => writer.write('keys.touch', uses),
  };
}
