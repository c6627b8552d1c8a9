import type {
  PeopleStore,
  Removal,
  RoleOutcome,
  WorkspaceWish,
} from '../../../features/workspaces/people-store.ts';
import type { WorkspaceRole } from '../../../features/workspaces/workspaces-store.ts';
import { and, asc, eq, ne, type Orm, sql } from '../engine/orm.ts';
import { inheritedScopes } from '../keys/inherited-scopes.ts';
import { keys } from '../keys/tables.ts';
import { areRoles, endInvitations } from './invitation-writes.ts';
import { members, workspaces } from './tables.ts';

/** Inserts it with its owner under the first slug that is free, which comes back; undefined when none is. */
export function insertWorkspace(
  orm: Orm,
  { slugs, ...workspace }: WorkspaceWish,
  ownerId: string,
): string | undefined {
  const slug = slugs.find((wanted) => isFree(orm, wanted));
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

/** The roles of invitations that do not outlive their maker's change to a role: nobody gives what is above them. */
const ungivable: Record<WorkspaceRole, WorkspaceRole[]> = {
  member: ['member', 'admin', 'owner'],
  admin: ['owner'],
  owner: [],
};

/** Workspaces and who belongs to them. */
export function membershipWrites(orm: Orm) {
  return {
    'people.createWorkspace': ({ workspace, ownerId }: { workspace: WorkspaceWish; ownerId: string }) =>
      insertWorkspace(orm, workspace, ownerId),

    'people.changeWorkspace': ({
      workspaceId,
      changes,
    }: {
      workspaceId: string;
      changes: Parameters<PeopleStore['changeWorkspace']>[1];
    }): boolean => {
      if (changes.slug !== undefined && !isFree(orm, changes.slug, workspaceId)) return false;
      orm.update(workspaces).set(changes).where(eq(workspaces.id, workspaceId)).run();
      return true;
    },

    'people.setRole': ({
      workspaceId,
      userId,
      role,
      at,
      given,
    }: Parameters<PeopleStore['setRole']>[0]): RoleOutcome => {
      const outcome = canLoseOwner(orm, { workspaceId, userId });
      if (outcome !== 'no-member' && !areRoles(orm, workspaceId, given)) return 'changed';
      if (outcome === 'no-member' || (outcome === 'last-owner' && role !== 'owner')) return outcome;
      orm.update(members).set({ role }).where(isMember(workspaceId, userId)).run();
      const roles = ungivable[role];
      if (roles.length > 0) endInvitations(orm, { workspaceId, userId, at, roles });
      return 'done';
    },

    'people.removeMember': ({ workspaceId, userId, at, given, fallback }: Removal): RoleOutcome => {
      const outcome = canLoseOwner(orm, { workspaceId, userId });
      if (outcome !== 'no-member' && !areRoles(orm, workspaceId, given)) return 'changed';
      if (outcome !== 'done') return outcome;
      orm.delete(members).where(isMember(workspaceId, userId)).run();
      const heir = firstOwner(orm, workspaceId);
      if (heir === undefined) throw new Error(`${workspaceId} has no owner`);
      orm
        .update(keys)
        .set({ ownerId: heir, scopes: sql.raw(inheritedScopes) })
        .where(and(eq(keys.workspaceId, workspaceId), eq(keys.ownerId, userId)))
        .run();
      endInvitations(orm, { workspaceId, userId, at });
      const isLeftWithout = !orm.select().from(members).where(eq(members.userId, userId)).limit(1).get();
      if (isLeftWithout && insertWorkspace(orm, fallback, userId) === undefined) {
        throw new Error('every slug is taken');
      }
      return 'done';
    },
  };
}

function isMember(workspaceId: string, userId: string) {
  return and(eq(members.workspaceId, workspaceId), eq(members.userId, userId));
}

function isFree(orm: Orm, slug: string, except = ''): boolean {
  const holder = orm.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.slug, slug)).get();
  return holder === undefined || holder.id === except;
}

/** Whether the workspace would still have an owner without this member as one. */
function canLoseOwner(orm: Orm, { workspaceId, userId }: { workspaceId: string; userId: string }) {
  const member = orm.select().from(members).where(isMember(workspaceId, userId)).get();
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
