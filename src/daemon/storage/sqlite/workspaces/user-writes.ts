import type { PeopleStore } from '../../../features/workspaces/people-store.ts';
import { and, eq, isNull, type Orm } from '../engine/orm.ts';
import { endCodesOf, insertCode } from './code-writes.ts';
import { insertWorkspace } from './membership-writes.ts';
import { logins, users } from './tables.ts';

export function userWrites(orm: Orm) {
  return {
    'people.addUser': ({ user, workspace, code }: Parameters<PeopleStore['addUser']>[0]): boolean => {
      const taken = orm.select({ id: users.id }).from(users).where(eq(users.handle, user.handle)).get();
      if (taken) return false;
      orm.insert(users).values(user).run();
      if (insertWorkspace(orm, workspace, user.id) === undefined) throw new Error('every slug is taken');
      insertCode(orm, code);
      return true;
    },

    'people.revokeLogin': ({
      userId,
      loginId,
      at,
    }: {
      userId: string;
      loginId: string;
      at: number;
    }): boolean => {
      const { changes } = orm
        .update(logins)
        .set({ revokedAt: at })
        .where(and(eq(logins.id, loginId), eq(logins.userId, userId), isNull(logins.revokedAt)))
        .run();
      if (changes === 0) return false;
      endCodesOf(orm, [loginId]);
      return true;
    },
  };
}

export type UserWrites = ReturnType<typeof userWrites>;
