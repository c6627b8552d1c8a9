import type { CaptureLevel } from '../../../shared/constants/capture-levels.ts';
import { ApiError } from '../../../shared/errors.ts';
import { wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import { type Caller, type LoginCaller, loginOf } from '../../base/handler.ts';
import type { PageRequest } from '../../base/replies.ts';
import { findUser, type PeopleDeps, type WorkspaceAndRole } from './people.ts';
import type { InvitationRecord, MemberRecord, RoleOutcome } from './people-store.ts';
import { checkedSlug, slugsFor } from './slugs.ts';
import type { WorkspaceRole } from './store.ts';
import { generateCode, normaliseCode } from './typed-codes.ts';

const invitationMs = 7 * 24 * 60 * 60 * 1000;
/** 100 random bits, as they are valid for days. */
const invitationGroups = 4;

const ranks: Record<WorkspaceRole, number> = { member: 0, admin: 1, owner: 2 };

interface WorkspaceChanges {
  name: string | undefined;
  slug: string | undefined;
  membersMayIssueKeys: boolean | undefined;
  /** Null where the host decides. */
  capture: CaptureLevel | null | undefined;
}

/** Manages workspaces and their members. To others than members a workspace does not exist: `not_found`. */
export function createMemberships(deps: PeopleDeps) {
  const { store, now } = deps;
  return {
    async create(
      caller: LoginCaller,
      request: { name: string; slug: string | undefined },
    ): Promise<WorkspaceAndRole> {
      const name = wellFormed(request.name, 'name');
      const slugs =
        request.slug === undefined ? slugsFor(name, deps.randomBytes) : [checkedSlug(request.slug)];
      const workspace = { id: deps.makeId('ws'), name, createdAt: now() };
      const slug = await store.createWorkspace({ ...workspace, slugs }, caller.userId);
      if (slug === undefined) throw slugIsTaken();
      return { workspace: { ...workspace, slug, membersMayIssueKeys: false, capture: null }, role: 'owner' };
    },

    list: (caller: LoginCaller, page: PageRequest) => store.workspacesOf(caller.userId, page),

    show: (caller: LoginCaller, reference: string) => enter(deps, caller, reference, 'member'),

    async change(
      caller: LoginCaller,
      reference: string,
      request: WorkspaceChanges,
    ): Promise<WorkspaceAndRole> {
      const { workspace, role } = await enter(deps, caller, reference, 'admin');
      const changes = {
        name: wellFormed(request.name, 'name') ?? workspace.name,
        slug: request.slug === undefined ? workspace.slug : checkedSlug(request.slug),
        membersMayIssueKeys: request.membersMayIssueKeys ?? workspace.membersMayIssueKeys,
        capture: request.capture === undefined ? workspace.capture : request.capture,
      };
      if (!(await store.changeWorkspace(workspace.id, changes))) throw slugIsTaken();
      return { workspace: { ...workspace, ...changes }, role };
    },

    async members(caller: LoginCaller, reference: string, page: PageRequest): Promise<MemberRecord[]> {
      const { workspace } = await enter(deps, caller, reference, 'member');
      return await store.members(workspace.id, page);
    },

    /** Fails with `permission` for roles above the caller's, and with `conflict` for the last owner. */
    async setRole(caller: LoginCaller, reference: string, user: string, role: WorkspaceRole) {
      const { workspace, role: own } = await enter(deps, caller, reference, 'admin');
      const member = await findMember(deps, caller, workspace.id, user);
      checkRank(own, member.role);
      checkRank(own, role);
      const expected = [
        { userId: caller.userId, role: own },
        { userId: member.user.id, role: member.role },
      ];
      const change = { workspaceId: workspace.id, userId: member.user.id, role, at: now(), expected };
      checkOutcome(await store.setRole(change), user);
      await recordEvent(deps, 'member.changed', workspace.id, { user: member.user.id, role });
      return { ...member, role };
    },

    /** Removes a member and returns the user's id. Members may remove themselves, except the last owner. */
    async remove(caller: LoginCaller, reference: string, user: string): Promise<string> {
      const { workspace, role: own } = await enter(deps, caller, reference, 'member');
      const member = await findMember(deps, caller, workspace.id, user);
      const userId = member.user.id;
      if (userId !== caller.userId) {
        if (own === 'member') throw onlyFor('admin');
        checkRank(own, member.role);
      }
      const { handle, name } = member.user;
      const slugs = slugsFor(handle, deps.randomBytes);
      const fallback = { id: deps.makeId('ws'), name, createdAt: now(), slugs };
      const expected = [
        { userId: caller.userId, role: own },
        { userId, role: member.role },
      ];
      const removal = { workspaceId: workspace.id, userId, at: now(), expected, fallback };
      checkOutcome(await store.removeMember(removal), user);
      await recordEvent(deps, 'member.left', workspace.id, { user: userId });
      return userId;
    },
  };
}

/** A permission check for a workspace's members of at least this role. */
export const permitted =
  (deps: PeopleDeps, least: WorkspaceRole) =>
  ({ caller, params }: { caller: Caller; params: { workspace: string } }): Promise<WorkspaceAndRole> =>
    enter(deps, loginOf(caller), params.workspace, least);

/** Manages invitations: codes with which users of this host join a workspace. */
export function createInvitations(deps: PeopleDeps) {
  const { store, now } = deps;
  return {
    async create(
      caller: LoginCaller,
      reference: string,
      { role = 'member', note }: { role?: WorkspaceRole | undefined; note: string | undefined },
    ): Promise<{ record: InvitationRecord; code: string }> {
      const { workspace, role: own } = await enter(deps, caller, reference, 'admin');
      checkRank(own, role);
      const code = generateCode(invitationGroups, deps.randomBytes);
      const createdAt = now();
      const record: InvitationRecord = {
        id: deps.makeId('invite'),
        workspaceId: workspace.id,
        digest: deps.digest(normaliseCode(code)),
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
      const { workspace } = await enter(deps, caller, reference, 'admin');
      return await store.invitations(workspace.id, page);
    },

    async revoke(caller: LoginCaller, reference: string, invitationId: string): Promise<void> {
      const { workspace } = await enter(deps, caller, reference, 'admin');
      if (!(await store.revokeInvitation(workspace.id, invitationId, now()))) {
        throw notFound('open invitation', invitationId);
      }
    },

    /** Joins with a code. Fails with `not_found` for an invalid code, and with `conflict` for a member. */
    async accept(caller: LoginCaller, code: string): Promise<WorkspaceAndRole> {
      const { userId } = caller;
      const joined = await store.acceptInvitation({
        digest: deps.digest(normaliseCode(code)),
        userId,
        at: deps.passed(),
      });
      if (joined === 'unknown') {
        const message = 'This code is wrong, was used or revoked, or has expired after seven days.';
        throw new ApiError('not_found', { param: 'code', message });
      }
      if (joined === 'member') throw new ApiError('conflict', { message: 'You are already a member.' });
      const { workspaceId, role } = joined;
      await recordEvent(deps, 'member.joined', workspaceId, { user: userId, role });
      const workspace = await deps.workspacesStore.workspace(workspaceId);
      if (!workspace) throw noSuchWorkspace(workspaceId);
      return { workspace, role };
    },
  };
}

async function enter(
  deps: PeopleDeps,
  caller: LoginCaller,
  reference: string,
  least: WorkspaceRole,
): Promise<WorkspaceAndRole> {
  const membership = await deps.workspaces.membership(caller, reference);
  const workspace = membership && (await deps.workspacesStore.workspace(membership.workspaceId));
  if (!membership || !workspace) throw noSuchWorkspace(reference);
  if (ranks[membership.role] < ranks[least]) throw onlyFor(least);
  return { workspace, role: membership.role };
}

function onlyFor(least: WorkspaceRole): ApiError {
  const who = least === 'admin' ? 'owners and admins' : 'owners';
  return new ApiError('permission', { message: `Only ${who} of the workspace may do this.` });
}

/** Members can neither grant nor change roles above their own. */
function checkRank(own: WorkspaceRole, role: WorkspaceRole): void {
  if (ranks[role] > ranks[own])
    throw new ApiError('permission', { message: 'Only owners of the workspace may do this.' });
}

async function findMember(
  deps: PeopleDeps,
  caller: LoginCaller,
  workspaceId: string,
  reference: string,
): Promise<MemberRecord> {
  const user = await findUser(deps, caller, reference);
  const member = user && (await deps.store.member(workspaceId, user.id));
  if (!member) throw noSuchMember(reference);
  return member;
}

function checkOutcome(outcome: RoleOutcome, reference: string): void {
  if (outcome === 'no-member') throw noSuchMember(reference);
  if (outcome === 'changed') {
    throw new ApiError('conflict', {
      message: 'A role was changed meanwhile; check the members and try again.',
    });
  }
  if (outcome === 'last-owner') {
    throw new ApiError('conflict', {
      message: 'A workspace must have an owner: make another member an owner first.',
    });
  }
}

function noSuchMember(reference: string): ApiError {
  return notFound('member', reference);
}

function noSuchWorkspace(reference: string): ApiError {
  return notFound('workspace', reference);
}

function slugIsTaken(): ApiError {
  return new ApiError('conflict', { param: 'slug', message: 'This slug is taken.' });
}

function recordEvent(
  { events, now }: PeopleDeps,
  type: string,
  workspaceId: string,
  data: Record<string, unknown>,
): Promise<void> {
  return events.record({ type, workspaceId, at: now(), data });
}
