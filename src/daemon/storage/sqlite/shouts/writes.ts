import type { ShoutsStore } from '../../../features/shouts/store.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { shouts } from './tables.ts';

export function shoutsWrites(orm: Orm) {
  return {
    'shouts.insert': ({ at, ...shout }: Parameters<ShoutsStore['insert']>[0]): number => {
      const row = { ...shout, createdAt: at, updatedAt: at };
      return orm.insert(shouts).values(row).returning({ id: shouts.id }).get().id;
    },
    'shouts.remove': ({ id, author }: { id: number; author: number }): boolean =>
      orm
        .delete(shouts)
        .where(and(eq(shouts.id, id), eq(shouts.author, author)))
        .run().changes > 0,
  };
}

export type ShoutsWrites = ReturnType<typeof shoutsWrites>;
