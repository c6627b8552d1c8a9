import type { WhispersOf, WhispersStore } from '../../../features/whispers/store.ts';
import { and, eq, isNull, type Orm } from '../engine/orm.ts';
import { whispers } from './tables.ts';

export function whispersWrites(orm: Orm) {
  return {
    'whispers.insert': ({ at, ...whisper }: Parameters<WhispersStore['insert']>[0]): number => {
      const row = { ...whisper, createdAt: at, updatedAt: at };
      return orm.insert(whispers).values(row).returning({ id: whispers.id }).get().id;
    },
    'whispers.markRead': ({ id, at }: { id: number; at: number }): boolean =>
      orm
        .update(whispers)
        .set({ readAt: at, updatedAt: at })
        .where(and(eq(whispers.id, id), isNull(whispers.readAt)))
        .run().changes > 0,
    'whispers.markAllRead': ({ person, peer, at }: WhispersOf & { at: number }): number[] => {
      const fromPeer = peer === undefined ? undefined : eq(whispers.sender, peer);
      return orm
        .update(whispers)
        .set({ readAt: at, updatedAt: at })
        .where(and(eq(whispers.recipient, person), isNull(whispers.readAt), fromPeer))
        .returning({ id: whispers.id })
        .all()
        .map(({ id }) => id)
        .toSorted((a, b) => a - b);
    },
  };
}

export type WhispersWrites = ReturnType<typeof whispersWrites>;
