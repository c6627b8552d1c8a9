import { ApiError } from '../../../shared/errors.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Changes } from '../../base/changes.ts';
import type { ActingUser, Caller, Handler, KeyOrLogin, LoginCaller } from '../../base/handler.ts';
import type { WorkspaceRole, WorkspacesStore } from './store.ts';

/** A caller's membership in a workspace. */
export interface Membership {
  workspaceId: string;
  /** The user who calls, or for whom the calling key was issued. */
  userId: string;
  role: WorkspaceRole;
}

const rolesMax = 1000;

/** Caches the roles of members. */
function roleCache(store: Pick<WorkspacesStore, 'role'>, changes: Changes) {
  const roles = new RecentMap<string, WorkspaceRole>(rolesMax);
  // Counts changes, so that a role read before a change is not cached after it.
  let changesCount = 0;
  const forget = ({ workspaceId, userId }: { workspaceId: string; userId: string }) => {
    changesCount += 1;
    roles.delete(`${workspaceId} ${userId}`);
  };
  changes.subscribe('role', forget);
  changes.subscribe('departure', forget);
  return {
    async roleOf(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined> {
      const key = `${workspaceId} ${userId}`;
      const known = roles.get(key);
      if (known) return known;
      const countBefore = changesCount;
      const role = await store.role(workspaceId, userId);
      // Only members are cached, so that new ones have access immediately.
      if (role && changesCount === countBefore) {
        roles.set(key, role);
      }
      return role;
    },
  };
}

export function createWorkspaces({
  store,
  changes,
}: {
  store: Pick<WorkspacesStore, 'workspace' | 'role' | 'owner'>;
  changes: Changes;
}) {
  const { roleOf } = roleCache(store, changes);
  let owner: { userId: string; workspaceId: string } | undefined;
  const daemonOwner = async () => {
    const found = owner === undefined ? await store.owner() : undefined;
    if (found) owner = { userId: found.user.id, workspaceId: found.workspace.id };
    return owner;
  };

  return {
    /**
     * The caller's membership in a workspace given by id, slug or `me`; undefined if there is no such workspace, or the
     * caller is not a member. A key belongs to one workspace.
     */
    async membership(caller: KeyOrLogin, reference: string): Promise<Membership | undefined> {
      const isOwn = reference === 'me' || reference === caller.workspaceId;
      const workspaceId = isOwn ? caller.workspaceId : (await store.workspace(reference))?.id;
      if (workspaceId === undefined) return undefined;
      if (caller.kind === 'key' && caller.workspaceId !== workspaceId) return undefined;
      const userId = caller.kind === 'key' ? caller.ownerId : caller.userId;
      const role = await roleOf(workspaceId, userId);
      return role && { workspaceId, userId, role };
    },

    /**
     * The caller acting in another workspace; `inWorkspace` switches a login. Fails with `not_found` if the caller is not
     * a member; a key belongs to one workspace.
     */
    async actIn(
      authenticated: Caller | Promise<Caller>,
      reference: string,
      inWorkspace: (caller: LoginCaller, workspaceId: string) => LoginCaller,
    ): Promise<Caller> {
      const caller = await authenticated;
      if (caller.kind !== 'key' && caller.kind !== 'login') return caller;
      const membership = await this.membership(caller, reference);
      if (!membership) {
        const message = 'You are not a member of such a workspace.';
        throw new ApiError('not_found', { param: 'x-workspace-id', message });
      }
      const { workspaceId } = membership;
      if (caller.kind === 'key' || workspaceId === caller.workspaceId) return caller;
      return inWorkspace(caller, workspaceId);
    },

    /** Owners and admins may issue keys, and members if the workspace allows it. */
    async mayIssueKeys({ workspaceId, role }: Membership): Promise<boolean> {
      return role !== 'member' || (await store.workspace(workspaceId))?.membersMayIssueKeys === true;
    },

    roleOf,

    /** Fails with `signed_out` or `permission` unless the caller is a login of the daemon's owner. */
    async requireDaemonOwner(caller: Caller): Promise<void> {
      if (caller.kind !== 'login') throw new ApiError('signed_out');
      if (caller.userId !== (await daemonOwner())?.userId) {
        throw new ApiError('permission', { message: 'Only the owner of this host may do this.' });
      }
    },

    /** Whether the user for whom a call is made is the daemon's owner, in their own workspace. */
    async isDaemonOwner({ userId, workspaceId }: ActingUser): Promise<boolean> {
      const known = await daemonOwner();
      return workspaceId === known?.workspaceId && userId === known.userId;
    },
  };
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/**
 * The id of a workspace that the caller may manage. Fails with `permission` for callers who are neither owners nor admins of it,
 * and if it does not exist; `action` completes the sentence that they can.
 */
export async function managedWorkspace(
  workspaces: Pick<Workspaces, 'membership'>,
  { caller, workspace, action }: { caller: KeyOrLogin; workspace: string; action: string },
): Promise<string> {
  const membership = await workspaces.membership(caller, workspace);
  if (membership && membership.role !== 'member') return membership.workspaceId;
  throw new ApiError('permission', { message: `Only owners and admins of a workspace can ${action}.` });
}

/**
 * Restricts an endpoint whose contract is for the daemon's owner: before any input is read, and for calls from within the
 * daemon, which skip `permit`.
 */
export function guardOwner(handler: Handler, requireDaemonOwner: Workspaces['requireDaemonOwner']): Handler {
  const { endpoint, handle } = handler;
  if (endpoint.access.login !== 'owner') return handler;
  return {
    endpoint,
    permit: ({ caller }: { caller: Caller }) => requireDaemonOwner(caller),
    handle: async (call: { caller: Caller }) => {
      await requireDaemonOwner(call.caller);
      return await handle(call);
    },
  };
}
