import type {
  PeopleStore,
  Removal,
  RoleOutcome,
  WorkspaceCandidate,
} from '../../../features/workspaces/people-store.ts';
import type { WorkspaceRole } from '../../../features/workspaces/store.ts';
import { and, asc, eq, ne, type Orm, sql } from '../engine/orm.ts';
import { inheritedScopes, keys } from '../keys/tables.ts';
import { haveRoles, revokeInvitations } from './invitation-writes.ts';
import { members, workspaces } from './tables.ts';

/** Inserts a workspace and its owner under the first free slug, and returns that; undefined if none is free. */
export function insertWorkspace(
  orm: Orm,
  { slugs, ...workspace }: WorkspaceCandidate,
  ownerId: string,
): string | undefined {
  const slug = slugs.find((wanted) => isSlugFree(orm, wanted));
  if (slug === undefined) return undefined;
  orm
    .insert(workspaces)
    .values({ ...workspace, slug, membersMayIssueKeys: false })
    .run();
  orm
    .insert(members)
    .values({ userId: ownerId, workspaceId: workspace.id, role: 'owner', joinedAt: workspace.createdAt })
    .run();
  return slug;
}

/** Invitations that are revoked when their creator changes to a role: users cannot grant more than their own role. */
const revokedOnChangeTo: Record<WorkspaceRole, WorkspaceRole[]> = {
  member: ['member', 'admin', 'owner'],
  admin: ['owner'],
  owner: [],
};

export function membershipWrites(orm: Orm) {
  return {
    'people.createWorkspace': ({ workspace, ownerId }: { workspace: WorkspaceCandidate; ownerId: string }) =>
      insertWorkspace(orm, workspace, ownerId),

    'people.changeWorkspace': ({
      workspaceId,
      changes,
    }: {
      workspaceId: string;
      changes: Parameters<PeopleStore['changeWorkspace']>[1];
    }): boolean => {
      if (changes.slug !== undefined && !isSlugFree(orm, changes.slug, workspaceId)) return false;
      orm.update(workspaces).set(changes).where(eq(workspaces.id, workspaceId)).run();
      return true;
    },

    'people.setRole': ({
      workspaceId,
      userId,
      role,
      at,
      expected,
    }: Parameters<PeopleStore['setRole']>[0]): RoleOutcome => {
      const outcome = canLoseOwner(orm, { workspaceId, userId });
      if (outcome !== 'no-member' && !haveRoles(orm, workspaceId, expected)) return 'changed';
      if (outcome === 'no-member' || (outcome === 'last-owner' && role !== 'owner')) return outcome;
      orm.update(members).set({ role }).where(membershipOf(workspaceId, userId)).run();
      const roles = revokedOnChangeTo[role];
      if (roles.length > 0) revokeInvitations(orm, { workspaceId, userId, at, roles });
      return 'done';
    },

    'people.removeMember': ({ workspaceId, userId, at, expected, fallback }: Removal): RoleOutcome => {
      const outcome = canLoseOwner(orm, { workspaceId, userId });
      if (outcome !== 'no-member' && !haveRoles(orm, workspaceId, expected)) return 'changed';
      if (outcome !== 'done') return outcome;
      orm.delete(members).where(membershipOf(workspaceId, userId)).run();
      const heir = firstOwner(orm, workspaceId);
      if (heir === undefined) throw new Error(`${workspaceId} has no owner`);
      orm
        .update(keys)
        .set({ ownerId: heir, scopes: sql.raw(inheritedScopes) })
        .where(and(eq(keys.workspaceId, workspaceId), eq(keys.ownerId, userId)))
        .run();
      revokeInvitations(orm, { workspaceId, userId, at });
      const hasNoWorkspace = !orm.select().from(members).where(eq(members.userId, userId)).limit(1).get();
      if (hasNoWorkspace && insertWorkspace(orm, fallback, userId) === undefined) {
        throw new Error('every slug is taken');
      }
      return 'done';
    },
  };
}

function membershipOf(workspaceId: string, userId: string) {
  return and(eq(members.workspaceId, workspaceId), eq(members.userId, userId));
}

function isSlugFree(orm: Orm, slug: string, except = ''): boolean {
  const holder = orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.slug, slug)).get();
  return holder === undefined || holder.id === except;
}

/** Whether the workspace keeps an owner without this member. */
function canLoseOwner(orm: Orm, { workspaceId, userId }: { workspaceId: string; userId: string }) {
  const member = orm.select().from(members).where(membershipOf(workspaceId, userId)).get();
  if (!member) return 'no-member';
  if (member.role !== 'owner') return 'done';
  return firstOwner(orm, workspaceId, userId) === undefined ? 'last-owner' : 'done';
}

function firstOwner(orm: Orm, workspaceId: string, except = ''): string | undefined {
  return orm
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.workspaceId, workspaceId), eq(members.role, 'owner'), ne(members.userId, except)))
    .orderBy(asc(members.joinedAt), asc(members.userId))
    .limit(1)
    .get()?.userId;
}

export type MembershipWrites = ReturnType<typeof membershipWrites>;
