import type { ProfileStore } from '../../../features/profile/store.ts';
import { and, eq, isNull, type SQL, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { users } from '../workspaces/tables.ts';
import type { ProfileWrites } from './writes.ts';

export function profileStore({ orm, writer }: StoreContext<ProfileWrites>): ProfileStore {
  const { number, handle, name, avatar, email, createdAt } = users;
  const updatedAt = sql<number>`coalesce(${users.updatedAt}, ${createdAt})`;
  const find = async (isMeant: SQL) =>
    orm
      .select({ userId: users.id, number, handle, name, avatar, email, createdAt, updatedAt })
      .from(users)
      .where(and(isNull(users.deletedAt), isMeant))
      .get();
  return {
    byUserId: (userId) => find(eq(users.id, userId)),
    byNumber: (wanted) => find(eq(number, wanted)),
    byHandle: (wanted) => find(eq(handle, wanted)),
    change: (userId, changes, at) => writer.write('profile.change', { userId, changes, at }),
    remove: (userId, at) => writer.write('profile.remove', { userId, at }),
  };
}
