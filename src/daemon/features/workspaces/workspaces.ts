import { ApiError } from '../../../shared/errors.ts';
import type { Caller, Handler, KeyCaller, LoginCaller } from '../../handler.ts';
import type { WorkspaceRole, WorkspacesStore } from './workspaces-store.ts';

/** A caller's part in a workspace. */
export interface Membership {
  workspaceId: string;
  /** The user who calls, or for whom the calling key was issued. */
  userId: string;
  role: WorkspaceRole;
}

const rolesKept = 1000;

/** Remembers the roles of members. */
function knownRoles(store: Pick<WorkspacesStore, 'role'>) {
  const roles = new Map<string, WorkspaceRole>();
  // Counts changes, so that a role that was read before one is not kept after it.
  let changes = 0;
  return {
    async roleOf(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined> {
      const place = `${workspaceId} ${userId}`;
      const known = roles.get(place);
      if (known) return known;
      const changesBefore = changes;
      const role = await store.role(workspaceId, userId);
      // Only members are kept: somebody who is let in must not wait for a cache.
      if (role && changes === changesBefore) {
        if (roles.size >= rolesKept) roles.clear();
        roles.set(place, role);
      }
      return role;
    },

    /** To be called when somebody's role changes or ends. */
    forgetRole(workspaceId: string, userId: string): void {
      changes += 1;
      roles.delete(`${workspaceId} ${userId}`);
    },
  };
}

/** Answers who belongs where. */
export function workspaces({ store }: { store: Pick<WorkspacesStore, 'workspace' | 'role' | 'owner'> }) {
  const { roleOf, forgetRole } = knownRoles(store);
  let ownerId: string | undefined;

  return {
    /**
     * The caller's membership of a workspace named by id, slug or `me`; undefined alike when there is no such
     * workspace and when it is none of the caller's. A key belongs to its one workspace.
     */
    async membership(caller: KeyCaller | LoginCaller, reference: string): Promise<Membership | undefined> {
      const isOwn = reference === 'me' || reference === caller.workspaceId;
      const workspaceId = isOwn ? caller.workspaceId : (await store.workspace(reference))?.id;
      if (workspaceId === undefined) return undefined;
      if (caller.kind === 'key' && caller.workspaceId !== workspaceId) return undefined;
      const userId = caller.kind === 'key' ? caller.ownerId : caller.userId;
      const role = await roleOf(workspaceId, userId);
      return role && { workspaceId, userId, role };
    },

    /**
     * The caller as it acts in a workspace of its choice, made by `inWorkspace` for a login. Fails with `not_found` when
     * it does not belong there; a key belongs to its one workspace.
     */
    async actIn(
      asked: Caller | Promise<Caller>,
      reference: string,
      inWorkspace: (caller: LoginCaller, workspaceId: string) => LoginCaller,
    ): Promise<Caller> {
      const caller = await asked;
      if (caller.kind !== 'key' && caller.kind !== 'login') return caller;
      const membership = await this.membership(caller, reference);
      if (!membership) {
        const message = 'You belong to no such workspace.';
        throw new ApiError('not_found', { param: 'x-workspace-id', message });
      }
      const { workspaceId } = membership;
      if (caller.kind === 'key' || workspaceId === caller.workspaceId) return caller;
      return inWorkspace(caller, workspaceId);
    },

    /** Whether this member may issue keys: owners and admins, and others where the workspace allows it. */
    async mayIssueKeys({ workspaceId, role }: Membership): Promise<boolean> {
      return role !== 'member' || (await store.workspace(workspaceId))?.membersMayIssueKeys === true;
    },

    roleOf,
    forgetRole,

    /** Fails with `signed_out` or `permission` unless the caller is a login of the daemon's owner. */
    async requireDaemonOwner(caller: Caller): Promise<void> {
      if (caller.kind !== 'login') throw new ApiError('signed_out');
      ownerId ??= (await store.owner())?.user.id;
      if (caller.userId !== ownerId) {
        throw new ApiError('permission', { message: 'Only the owner of this host may do this.' });
      }
    },
  };
}

export type Workspaces = ReturnType<typeof workspaces>;

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
