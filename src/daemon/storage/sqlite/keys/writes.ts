import type { KeyRecord, KeysStore } from '../../../features/keys/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, isNull, lt, type Orm, or } from '../engine/orm.ts';
import { keys } from './tables.ts';

type KeyRef = { workspaceId: string; keyId: string };
type Change<Value, Name extends string> = Record<Name, Value> & { before: Value | undefined };

export function keysWrites(database: Connection, orm: Orm) {
  // Walks through revoked keys too: a key that was revoked alone may have live descendants.
  const revokeTree = database
    .prepare<[object], string>(
      `WITH RECURSIVE tree (id) AS (
         SELECT id FROM keys WHERE id = @keyId AND workspace_id = @workspaceId AND revoked_at IS NULL
         UNION SELECT keys.id FROM keys JOIN tree ON keys.parent_id = tree.id
       )
       UPDATE keys SET revoked_at = @at WHERE id IN (SELECT id FROM tree) AND revoked_at IS NULL RETURNING id`,
    )
    .pluck();

  return {
    'keys.insert': (record: KeyRecord): boolean => {
      const { parentId } = record;
      const isIssuer = parentId === null ? undefined : and(eq(keys.id, parentId), isNull(keys.revokedAt));
      if (isIssuer && !orm.select({ id: keys.id }).from(keys).where(isIssuer).get()) return false;
      orm.insert(keys).values(record).run();
      return true;
    },
    'keys.revoke': (key: KeyRef & { at: number }): string[] => revokeTree.all(key),
    'keys.setLimits': ({ limits, before, ...key }: KeyRef & Change<KeyRecord['limits'], 'limits'>): boolean =>
      hasStill(orm, key, { limits: before }) &&
      orm.update(keys).set({ limits }).where(isKey(key)).run().changes > 0,
    'keys.setDefaults': ({
      defaults,
      before,
      ...key
    }: KeyRef & Change<KeyRecord['defaults'], 'defaults'>): boolean =>
      hasStill(orm, key, { defaults: before }) &&
      orm.update(keys).set({ defaults }).where(isKey(key)).run().changes > 0,
    'keys.touch': (uses: Parameters<KeysStore['touch']>[0]): void => {
      for (const { keyId, at } of uses) {
        orm
          .update(keys)
          .set({ lastUsedAt: at })
          .where(and(eq(keys.id, keyId), or(isNull(keys.lastUsedAt), lt(keys.lastUsedAt, at))))
          .run();
      }
    },
  };
}

/** Whether a key has what its change was made of. */
function hasStill(
  orm: Orm,
  key: KeyRef,
  before: { [N in 'limits' | 'defaults']?: KeyRecord[N] | undefined },
): boolean {
  const { limits, defaults } = keys;
  const found = orm.select({ limits, defaults }).from(keys).where(isKey(key)).get();
  return Object.entries(before).every(
    ([name, value]) =>
      value === undefined || JSON.stringify(found?.[name as keyof typeof found]) === JSON.stringify(value),
  );
}

function isKey({ workspaceId, keyId }: KeyRef) {
  return and(eq(keys.id, keyId), eq(keys.workspaceId, workspaceId));
}

export type KeysWrites = ReturnType<typeof keysWrites>;
