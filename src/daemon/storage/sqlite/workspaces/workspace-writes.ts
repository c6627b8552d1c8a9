import type { NewLogin, WorkspacesStore } from '../../../features/workspaces/store.ts';
import { and, eq, isNull, lt, type Orm, or } from '../engine/orm.ts';
import { endCodesOf } from './code-writes.ts';
import { logins, members, users, workspaces } from './tables.ts';

export function workspacesWrites(orm: Orm) {
  return {
    'workspaces.createOwner': ({ user, workspace }: Parameters<WorkspacesStore['createOwner']>[0]): void => {
      orm.insert(users).values(user).run();
      orm
        .insert(workspaces)
        .values({ ...workspace, membersMayIssueKeys: false })
        .run();
      orm
        .insert(members)
        .values({ userId: user.id, workspaceId: workspace.id, role: 'owner', joinedAt: workspace.createdAt })
        .run();
    },
    'workspaces.insertLogin': (record: NewLogin): void => {
      orm.insert(logins).values(record).run();
    },
    'workspaces.replaceLogin': (record: NewLogin): string[] => {
      const { userId, name } = record;
      const replaced = orm
        .update(logins)
        .set({ revokedAt: record.createdAt })
        .where(and(eq(logins.userId, userId), eq(logins.name, name), isNull(logins.revokedAt)))
        .returning({ id: logins.id })
        .all();
      const ids = replaced.map(({ id }) => id);
      endCodesOf(orm, ids);
      orm.insert(logins).values(record).run();
      return ids;
    },
    'workspaces.touchLogins': (uses: Parameters<WorkspacesStore['touchLogins']>[0]): void => {
      for (const { id, at } of uses) {
        orm
          .update(logins)
          .set({ lastUsedAt: at })
          .where(and(eq(logins.id, id), or(isNull(logins.lastUsedAt), lt(logins.lastUsedAt, at))))
          .run();
      }
    },
  };
}

export type WorkspacesWrites = ReturnType<typeof workspacesWrites>;
