import { ApiError } from '../../../shared/errors.ts';
import { wellFormed } from '../../../shared/input-faults.ts';
import { type Caller, type LoginCaller, loginOf } from '../../handler.ts';
import type { PageRequest } from '../../replies.ts';
import { makeCode, readCode } from './codes.ts';
import { findUser, type PeopleNeeds, type Standing } from './people.ts';
import type { InvitationRecord, MemberRecord, RoleOutcome } from './people-store.ts';
import { checkedSlug, slugsFor } from './slugs.ts';
import type { WorkspaceRole } from './workspaces-store.ts';

const invitationMs = 7 * 24 * 60 * 60 * 1000;
/** 100 random bits: they are good for days. */
const invitationGroups = 4;

const ranks: Record<WorkspaceRole, number> = { member: 0, admin: 1, owner: 2 };

interface WorkspaceChanges {
  name: string | undefined;
  slug: string | undefined;
  membersMayIssueKeys: boolean | undefined;
}

/** Workspaces and their members. A workspace that is none of the caller's does not exist: `not_found`. */
export function memberships(needs: PeopleNeeds) {
  const { store, now } = needs;
  return {
    async create(caller: LoginCaller, wish: { name: string; slug: string | undefined }): Promise<Standing> {
      const name = wellFormed(wish.name, 'name');
      const slugs = wish.slug === undefined ? slugsFor(name, needs.randomBytes) : [checkedSlug(wish.slug)];
      const workspace = { id: needs.makeId('ws'), name, createdAt: now() };
      const slug = await store.createWorkspace({ ...workspace, slugs }, caller.userId);
      if (slug === undefined) throw slugIsTaken();
      return { workspace: { ...workspace, slug, membersMayIssueKeys: false }, role: 'owner' };
    },

    list: (caller: LoginCaller, page: PageRequest) => store.workspacesOf(caller.userId, page),

    show: (caller: LoginCaller, reference: string) => enter(needs, caller, reference, 'member'),

    async change(caller: LoginCaller, reference: string, wish: WorkspaceChanges): Promise<Standing> {
      const { workspace, role } = await enter(needs, caller, reference, 'admin');
      const changes = {
        name: wellFormed(wish.name, 'name') ?? workspace.name,
        slug: wish.slug === undefined ? workspace.slug : checkedSlug(wish.slug),
        membersMayIssueKeys: wish.membersMayIssueKeys ?? workspace.membersMayIssueKeys,
      };
      if (!(await store.changeWorkspace(workspace.id, changes))) throw slugIsTaken();
      return { workspace: { ...workspace, ...changes }, role };
    },

    async members(caller: LoginCaller, reference: string, page: PageRequest): Promise<MemberRecord[]> {
      const { workspace } = await enter(needs, caller, reference, 'member');
      return await store.members(workspace.id, page);
    },

    /** Fails with `permission` for what is above the caller, and with `conflict` for the last owner. */
    async setRole(caller: LoginCaller, reference: string, user: string, role: WorkspaceRole) {
      const { workspace, role: own } = await enter(needs, caller, reference, 'admin');
      const member = await findMember(needs, caller, workspace.id, user);
      mayTouch(own, member.role);
      mayTouch(own, role);
      const given = [
        { userId: caller.userId, role: own },
        { userId: member.user.id, role: member.role },
      ];
      const change = { workspaceId: workspace.id, userId: member.user.id, role, at: now(), given };
      checkOutcome(await store.setRole(change));
      needs.workspaces.forgetRole(workspace.id, member.user.id);
      await tell(needs, 'member.changed', workspace.id, { user: member.user.id, role });
      return { ...member, role };
    },

    /** Takes a member out; everybody may take themselves out, but the last owner. Gives the id of the user. */
    async remove(caller: LoginCaller, reference: string, user: string): Promise<string> {
      const { workspace, role: own } = await enter(needs, caller, reference, 'member');
      const member = await findMember(needs, caller, workspace.id, user);
      const userId = member.user.id;
      if (userId !== caller.userId) {
        if (own === 'member') throw onlyFor('admin');
        mayTouch(own, member.role);
      }
      const { handle, name } = member.user;
      const slugs = slugsFor(handle, needs.randomBytes);
      const fallback = { id: needs.makeId('ws'), name, createdAt: now(), slugs };
      const given = [
        { userId: caller.userId, role: own },
        { userId, role: member.role },
      ];
      const removal = { workspaceId: workspace.id, userId, at: now(), given, fallback };
      checkOutcome(await store.removeMember(removal));
      needs.workspaces.forgetRole(workspace.id, userId);
      needs.endings.endMembership(workspace.id, userId);
      await tell(needs, 'member.left', workspace.id, { user: userId });
      return userId;
    },
  };
}

/** Fails as every call about a workspace does for whoever is none of its members, or is of too low a role. */
export const permitted =
  (needs: PeopleNeeds, least: WorkspaceRole) =>
  ({ caller, params }: { caller: Caller; params: { workspace: string } }): Promise<Standing> =>
    enter(needs, loginOf(caller), params.workspace, least);

/** Codes that let people of this host join a workspace. */
export function invitations(needs: PeopleNeeds) {
  const { store, now } = needs;
  return {
    async create(
      caller: LoginCaller,
      reference: string,
      { role = 'member', note }: { role?: WorkspaceRole | undefined; note: string | undefined },
    ): Promise<{ record: InvitationRecord; code: string }> {
      const { workspace, role: own } = await enter(needs, caller, reference, 'admin');
      mayTouch(own, role);
      const code = makeCode(invitationGroups, needs.randomBytes);
      const createdAt = now();
      const record: InvitationRecord = {
        id: needs.makeId('invite'),
        workspaceId: workspace.id,
        digest: needs.digest(readCode(code)),
        role,
        note: wellFormed(note, 'note') ?? '',
        createdBy: caller.userId,
        createdAt,
        expiresAt: createdAt + invitationMs,
        acceptedBy: null,
        acceptedAt: null,
        revokedAt: null,
      };
      if (!(await store.insertInvitation(record, [{ userId: caller.userId, role: own }]))) {
        throw onlyFor('admin');
      }
      return { record, code };
    },

    async list(caller: LoginCaller, reference: string, page: PageRequest): Promise<InvitationRecord[]> {
      const { workspace } = await enter(needs, caller, reference, 'admin');
      return await store.invitations(workspace.id, page);
    },

    async revoke(caller: LoginCaller, reference: string, invitationId: string): Promise<void> {
      const { workspace } = await enter(needs, caller, reference, 'admin');
      if (!(await store.revokeInvitation(workspace.id, invitationId, now()))) {
        throw new ApiError('not_found', { message: 'There is no such open invitation.' });
      }
    },

    /** Joins with a code. Fails with `not_found` when it is not good, and with `conflict` for a member. */
    async accept(caller: LoginCaller, typed: string): Promise<Standing> {
      const { userId } = caller;
      const joined = await store.acceptInvitation({
        digest: needs.digest(readCode(typed)),
        userId,
        at: now(),
      });
      if (joined === 'unknown') {
        const message = 'This code is wrong, was used or revoked, or is past its seven days.';
        throw new ApiError('not_found', { param: 'code', message });
      }
      if (joined === 'member') throw new ApiError('conflict', { message: 'You are a member already.' });
      const { workspaceId, role } = joined;
      await tell(needs, 'member.joined', workspaceId, { user: userId, role });
      const workspace = await needs.workspacesStore.workspace(workspaceId);
      if (!workspace) throw noSuchWorkspace();
      return { workspace, role };
    },
  };
}

async function enter(
  needs: PeopleNeeds,
  caller: LoginCaller,
  reference: string,
  least: WorkspaceRole,
): Promise<Standing> {
  const membership = await needs.workspaces.membership(caller, reference);
  const workspace = membership && (await needs.workspacesStore.workspace(membership.workspaceId));
  if (!membership || !workspace) throw noSuchWorkspace();
  if (ranks[membership.role] < ranks[least]) throw onlyFor(least);
  return { workspace, role: membership.role };
}

function onlyFor(least: WorkspaceRole): ApiError {
  const who = least === 'admin' ? 'the owner and admins' : 'an owner';
  return new ApiError('permission', { message: `Only ${who} of the workspace may do this.` });
}

/** Nobody makes or changes those above themselves. */
function mayTouch(own: WorkspaceRole, role: WorkspaceRole): void {
  if (ranks[role] > ranks[own]) throw new ApiError('permission', { message: `Only an owner may do this.` });
}

async function findMember(
  needs: PeopleNeeds,
  caller: LoginCaller,
  workspaceId: string,
  reference: string,
): Promise<MemberRecord> {
  const user = await findUser(needs, caller, reference);
  const member = user && (await needs.store.member(workspaceId, user.id));
  if (!member) throw noSuchMember();
  return member;
}

function checkOutcome(outcome: RoleOutcome): void {
  if (outcome === 'no-member') throw noSuchMember();
  if (outcome === 'changed') {
    throw new ApiError('conflict', {
      message: 'Somebody’s role was changed meanwhile; look, and try again.',
    });
  }
  if (outcome === 'last-owner') {
    throw new ApiError('conflict', { message: 'A workspace keeps an owner: make somebody else one first.' });
  }
}

function noSuchMember(): ApiError {
  return new ApiError('not_found', { message: 'There is no such member.' });
}

function noSuchWorkspace(): ApiError {
  return new ApiError('not_found', { message: 'There is no such workspace.' });
}

function slugIsTaken(): ApiError {
  return new ApiError('conflict', { param: 'slug', message: 'There is a workspace of this slug.' });
}

function tell(
  { events, now }: PeopleNeeds,
  type: string,
  workspaceId: string,
  data: Record<string, unknown>,
): Promise<void> {
  return events.record({ type, workspaceId, at: now(), data });
}
