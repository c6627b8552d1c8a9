import type { PeopleStore } from '../../../features/workspaces/people-store.ts';
import { and, asc, desc, eq, gt, isNull, lt, or, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { type CodeWrites, isUsableAt } from './code-writes.ts';
import type { InvitationWrites } from './invitation-writes.ts';
import type { MembershipWrites } from './membership-writes.ts';
import { invitations, loginCodes, logins, members, userColumns, users, workspaces } from './tables.ts';
import type { UserWrites } from './user-writes.ts';

/** Ids sort by time, so pages are ordered by id. */
export function peopleStore({
  orm,
  writer,
}: StoreContext<UserWrites & CodeWrites & MembershipWrites & InvitationWrites>): PeopleStore {
  const memberships = () =>
    orm
      .select({ user: userColumns, role: members.role, joinedAt: members.joinedAt })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId));

  return {
    addUser: (added) => writer.write('people.addUser', added),
    insertCode: (record) => writer.write('people.insertCode', record),
    redeemCode: (digest, login, at) => writer.write('people.redeemCode', { digest, login, at }),
    redeemLink: (digest, login, how) => writer.write('people.redeemLink', { digest, login, ...how }),
    revokeLogin: (userId, loginId, at) => writer.write('people.revokeLogin', { userId, loginId, at }),
    createWorkspace: (workspace, ownerId) => writer.write('people.createWorkspace', { workspace, ownerId }),
    changeWorkspace: (workspaceId, changes) =>
      writer.write('people.changeWorkspace', { workspaceId, changes }),
    setRole: (change) => writer.write('people.setRole', change),
    removeMember: (removal) => writer.write('people.removeMember', removal),
    insertInvitation: (record, expected) => writer.write('people.insertInvitation', { record, expected }),
    revokeInvitation: (workspaceId, invitationId, at) =>
      writer.write('people.revokeInvitation', { workspaceId, invitationId, at }),
    acceptInvitation: (accepted) => writer.write('people.acceptInvitation', accepted),

    user: async (reference) =>
      orm.select(userColumns).from(users).where(eq(users.id, reference)).get() ??
      orm.select(userColumns).from(users).where(eq(users.handle, reference)).get(),
    userOfCode: async (digest, at) =>
      orm
        .select(userColumns)
        .from(loginCodes)
        .innerJoin(users, eq(users.id, loginCodes.userId))
        .where(and(eq(loginCodes.digest, digest), isUsableAt(at)))
        .get(),
    users: async ({ limit, after = '' }) =>
      orm
        .select(userColumns)
        .from(users)
        // The row of a deleted user stays, because others received whispers from them.
        .where(and(gt(users.id, after), isNull(users.deletedAt)))
        .orderBy(asc(users.id))
        .limit(limit)
        .all(),
    logins: async (userId, { limit, after = '', at }) =>
      orm
        .select()
        .from(logins)
        .where(
          and(
            eq(logins.userId, userId),
            isNull(logins.revokedAt),
            gt(logins.id, after),
            // Of browsers, those that were used recently.
            or(
              isNull(logins.idleMs),
              gt(sql`coalesce(${logins.lastUsedAt}, ${logins.createdAt}) + ${logins.idleMs}`, at),
            ),
          ),
        )
        .orderBy(asc(logins.id))
        .limit(limit)
        .all(),
    workspacesOf: async (userId, { limit, after = '' }) =>
      orm
        .select({ workspace: workspaces, role: members.role })
        .from(members)
        .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
        .where(and(eq(members.userId, userId), gt(members.workspaceId, after)))
        .orderBy(asc(members.workspaceId))
        .limit(limit)
        .all(),
    members: async (workspaceId, { limit, after = '' }) =>
      memberships()
        .where(and(eq(members.workspaceId, workspaceId), gt(members.userId, after)))
        .orderBy(asc(members.userId))
        .limit(limit)
        .all(),
    member: async (workspaceId, userId) =>
      memberships()
        .where(and(eq(members.workspaceId, workspaceId), eq(members.userId, userId)))
        .get(),
    invitations: async (workspaceId, { limit, after }) => {
      const isLater = after === undefined ? undefined : lt(invitations.id, after);
      return orm
        .select()
        .from(invitations)
        .where(and(eq(invitations.workspaceId, workspaceId), isLater))
        .orderBy(desc(invitations.id))
        .limit(limit)
        .all();
    },
  };
}
