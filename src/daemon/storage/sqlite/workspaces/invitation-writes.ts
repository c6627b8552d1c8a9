import type {
  ExpectedRoles,
  InvitationRecord,
  PeopleStore,
} from '../../../features/workspaces/people-store.ts';
import type { WorkspaceRole } from '../../../features/workspaces/store.ts';
import { and, eq, gt, inArray, isNull, type Orm } from '../engine/orm.ts';
import { invitations, members } from './tables.ts';

type Revocation = { workspaceId: string; invitationId: string; at: number };
type Outcome = Awaited<ReturnType<PeopleStore['acceptInvitation']>>;

export function invitationWrites(orm: Orm) {
  return {
    'people.insertInvitation': ({
      record,
      expected,
    }: {
      record: InvitationRecord;
      expected: ExpectedRoles;
    }): boolean => {
      if (!haveRoles(orm, record.workspaceId, expected)) return false;
      orm.insert(invitations).values(record).run();
      return true;
    },

    'people.revokeInvitation': ({ workspaceId, invitationId, at }: Revocation): boolean =>
      orm
        .update(invitations)
        .set({ revokedAt: at })
        .where(and(eq(invitations.id, invitationId), eq(invitations.workspaceId, workspaceId), isOpen(at)))
        .run().changes > 0,

    'people.acceptInvitation': ({
      digest,
      userId,
      at,
    }: Parameters<PeopleStore['acceptInvitation']>[0]): Outcome => {
      const found = orm
        .select()
        .from(invitations)
        .where(and(eq(invitations.digest, digest), isOpen(at)))
        .get();
      if (!found) return 'unknown';
      const { workspaceId, role } = found;
      const membership = and(eq(members.workspaceId, workspaceId), eq(members.userId, userId));
      if (orm.select().from(members).where(membership).get()) return 'member';
      orm
        .update(invitations)
        .set({ acceptedBy: userId, acceptedAt: at })
        .where(eq(invitations.id, found.id))
        .run();
      orm.insert(members).values({ userId, workspaceId, role, joinedAt: at }).run();
      return { workspaceId, role };
    },
  };
}

/** Whether each of these users still has the role on which a decision was based. */
export function haveRoles(orm: Orm, workspaceId: string, expected: ExpectedRoles): boolean {
  return expected.every(({ userId, role }) => {
    const membership = and(eq(members.workspaceId, workspaceId), eq(members.userId, userId));
    return orm.select({ role: members.role }).from(members).where(membership).get()?.role === role;
  });
}

interface RevokeOptions {
  workspaceId: string;
  userId: string;
  at: number;
  /** Only invitations to these roles; default all. */
  roles?: WorkspaceRole[];
}

/** Revokes the open invitations that a user created. */
export function revokeInvitations(orm: Orm, { workspaceId, userId, at, roles }: RevokeOptions): void {
  const isMade = and(eq(invitations.workspaceId, workspaceId), eq(invitations.createdBy, userId), isOpen(at));
  orm
    .update(invitations)
    .set({ revokedAt: at })
    .where(roles ? and(isMade, inArray(invitations.role, roles)) : isMade)
    .run();
}

/** Not accepted, revoked or expired. */
function isOpen(at: number) {
  return and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt), gt(invitations.expiresAt, at));
}

export type InvitationWrites = ReturnType<typeof invitationWrites>;
