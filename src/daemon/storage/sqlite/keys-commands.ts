import type { KeyRecord, KeysStore } from '../../features/keys/keys-store.ts';
import { and, eq, isNull, lt, type Orm, or } from './orm.ts';
import { keys } from './schema/keys.ts';

export function keysCommands(orm: Orm) {
  return {
    'keys.insert': (record: KeyRecord): void => {
      orm.insert(keys).values(record).run();
    },
    'keys.revoke': ({
      workspaceId,
      keyId,
      at,
    }: {
      workspaceId: string;
      keyId: string;
      at: number;
    }): boolean =>
      orm
        .update(keys)
        .set({ revokedAt: at })
        .where(and(eq(keys.id, keyId), eq(keys.workspaceId, workspaceId), isNull(keys.revokedAt)))
        .run().changes > 0,
    'keys.setLimits': ({
      workspaceId,
      keyId,
      limits,
    }: {
      workspaceId: string;
      keyId: string;
      limits: KeyRecord['limits'];
    }): boolean =>
      orm
        .update(keys)
        .set({ limits })
        .where(and(eq(keys.id, keyId), eq(keys.workspaceId, workspaceId)))
        .run().changes > 0,
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
