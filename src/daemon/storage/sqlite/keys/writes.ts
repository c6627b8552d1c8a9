import type { KeyRecord, KeysStore, PreviousSecret, Rotation } from '../../../features/keys/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, desc, eq, gt, isNotNull, isNull, lt, type Orm, or } from '../engine/orm.ts';
import { keys, previousSecrets } from './tables.ts';

/** How many previous secrets of a key are known; with one more, the oldest ends. */
const previousSecretsMax = 8;

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
    'keys.rotate': (rotation: Rotation): boolean => rotate(orm, rotation),
    'keys.setPaused': ({ pausedAt, ...key }: KeyRef & Pick<KeyRecord, 'pausedAt'>): boolean =>
      orm
        .update(keys)
        .set({ pausedAt })
        .where(
          and(
            isKey(key),
            isNull(keys.revokedAt),
            pausedAt === null ? isNotNull(keys.pausedAt) : isNull(keys.pausedAt),
          ),
        )
        .run().changes > 0,
    'keys.touchPrevious': (uses: Parameters<KeysStore['touchPrevious']>[0]): PreviousSecret[] =>
      uses.flatMap(({ digest, at }) => {
        const { lastUsedAt } = previousSecrets;
        const isSecret = eq(previousSecrets.digest, digest);
        const change = orm.update(previousSecrets).set({ lastUsedAt: at });
        const first = change
          .where(and(isSecret, isNull(lastUsedAt)))
          .returning()
          .all();
        if (first.length === 0) change.where(and(isSecret, lt(lastUsedAt, at))).run();
        return first;
      }),
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

function rotate(orm: Orm, { before, digest, hint, at, endsAt, ...key }: Rotation): boolean {
  const isStill = and(isKey(key), eq(keys.digest, before), isNull(keys.revokedAt));
  const replaced = orm.select({ hint: keys.hint }).from(keys).where(isStill).get();
  if (replaced === undefined) return false;
  orm.update(keys).set({ digest, hint, rotatedAt: at }).where(isStill).run();
  const isOfKey = eq(previousSecrets.keyId, key.keyId);
  if (endsAt === undefined)
    orm
      .update(previousSecrets)
      .set({ endsAt: at })
      .where(and(isOfKey, gt(previousSecrets.endsAt, at)))
      .run();
  const kept = orm
    .select({ digest: previousSecrets.digest })
    .from(previousSecrets)
    .where(isOfKey)
    .orderBy(desc(previousSecrets.replacedAt), desc(previousSecrets.digest))
    .all();
  for (const surplus of kept.slice(previousSecretsMax - 1))
    orm.delete(previousSecrets).where(eq(previousSecrets.digest, surplus.digest)).run();
  const secret = { ...key, digest: before, hint: replaced.hint, replacedAt: at, endsAt: endsAt ?? at };
  orm
    .insert(previousSecrets)
    .values({ ...secret, lastUsedAt: null })
    .run();
  return true;
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
