import type { WorkspacesStore } from '../../../features/workspaces/store.ts';
import { and, asc, eq, isNotNull } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { logins, members, userColumns, users, workspaces } from './tables.ts';
import type { WorkspacesWrites } from './workspace-writes.ts';

export function workspacesStore({ orm, writer }: StoreContext<WorkspacesWrites>): WorkspacesStore {
  const homeOf = (userId: string) =>
    orm
      .select({ workspace: workspaces })
      .from(members)
      .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
      .where(eq(members.userId, userId))
      .orderBy(asc(members.joinedAt), asc(members.workspaceId))
      .get()?.workspace;

  return {
    createOwner: (first) => writer.write('workspaces.createOwner', first),
    owner: async () => {
      const user = orm.select(userColumns).from(users).orderBy(asc(users.number)).limit(1).get();
      const workspace = user && homeOf(user.id);
      return user && workspace && { user, workspace };
    },
    workspace: async (reference) =>
      orm.select().from(workspaces).where(eq(workspaces.id, reference)).get() ??
      orm.select().from(workspaces).where(eq(workspaces.slug, reference)).get(),
    captureLevels: async () =>
      orm
        .select({ workspaceId: workspaces.id, capture: workspaces.capture })
        .from(workspaces)
        .where(isNotNull(workspaces.capture))
        .all()
        .flatMap(({ workspaceId, capture }) => (capture === null ? [] : [{ workspaceId, capture }])),
    homeOf: async (userId) => homeOf(userId),
    role: async (workspaceId, userId) =>
      orm
        .select({ role: members.role })
        .from(members)
        .where(and(eq(members.userId, userId), eq(members.workspaceId, workspaceId)))
        .get()?.role,
    insertLogin: (record) => writer.write('workspaces.insertLogin', record),
    replaceLogin: async (record) => {
      await writer.write('workspaces.replaceLogin', record);
    },
    loginByDigest: async (digest) => orm.select().from(logins).where(eq(logins.digest, digest)).get(),
    touchLogins: (uses) => writer.write('workspaces.touchLogins', uses),
    loginById: async (id) => orm.select().from(logins).where(eq(logins.id, id)).get(),
  };
}
