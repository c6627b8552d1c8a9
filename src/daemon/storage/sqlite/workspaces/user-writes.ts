import type { LoginCodeRecord, PeopleStore } from '../../../features/workspaces/people-store.ts';
import type { NewLogin } from '../../../features/workspaces/store.ts';
import { and, eq, gt, isNull, lt, type Orm } from '../engine/orm.ts';
import { insertWorkspace } from './membership-writes.ts';
import { loginCodes, logins, users } from './tables.ts';

type Redemption = { digest: string; login: Omit<NewLogin, 'userId'> };

export function userWrites(orm: Orm) {
  const insertCode = (record: LoginCodeRecord): void => {
    orm.delete(loginCodes).where(lt(loginCodes.expiresAt, record.createdAt)).run();
    orm.insert(loginCodes).values(record).run();
  };

  return {
    'people.addUser': ({ user, workspace, code }: Parameters<PeopleStore['addUser']>[0]): boolean => {
      const taken = orm.select({ id: users.id }).from(users).where(eq(users.handle, user.handle)).get();
      if (taken) return false;
      orm.insert(users).values(user).run();
      if (insertWorkspace(orm, workspace, user.id) === undefined) throw new Error('every slug is taken');
      insertCode(code);
      return true;
    },

    'people.insertCode': insertCode,

    'people.redeemCode': ({ digest, login }: Redemption): string | undefined => {
      const at = login.createdAt;
      const [used] = orm
        .update(loginCodes)
        .set({ usedAt: at })
        .where(and(eq(loginCodes.digest, digest), isNull(loginCodes.usedAt), gt(loginCodes.expiresAt, at)))
        .returning({ userId: loginCodes.userId })
        .all();
      if (!used) return undefined;
      orm
        .insert(logins)
        .values({ ...login, userId: used.userId })
        .run();
      return used.userId;
    },

    'people.revokeLogin': ({
      userId,
      loginId,
      at,
    }: {
      userId: string;
      loginId: string;
      at: number;
    }): boolean =>
      orm
        .update(logins)
        .set({ revokedAt: at })
        .where(and(eq(logins.id, loginId), eq(logins.userId, userId), isNull(logins.revokedAt)))
        .run().changes > 0,
  };
}

export type UserWrites = ReturnType<typeof userWrites>;
