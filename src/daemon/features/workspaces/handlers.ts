import {
  addUser,
  createLoginCode,
  createLoginLink,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  listUsers,
  previewSession,
  type Session,
  signOut,
  type User,
} from '../../../shared/contract/people.ts';
import {
  acceptInvitation,
  createInvitation,
  createWorkspace,
  getWorkspace,
  type Invitation,
  listInvitations,
  listMembers,
  listWorkspaces,
  type Member,
  removeMember,
  revokeInvitation,
  updateMember,
  updateWorkspace,
  type Workspace,
} from '../../../shared/contract/workspaces.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, implement, loginOf } from '../../base/handler.ts';
import { pageOf, withSecret } from '../../base/replies.ts';
import { createInvitations, createMemberships, permitted } from './memberships.ts';
import { createSessions, createUsers, type PeopleDeps, type WorkspaceAndRole } from './people.ts';
import type { InvitationRecord, MemberRecord } from './people-store.ts';
import {
  type LoginRecord,
  loginExpiry,
  type UserRecord,
  type WorkspaceRecord,
  type WorkspaceRole,
} from './store.ts';

/** The endpoints for users, sessions, workspaces, members and invitations. */
export function peopleHandlers(deps: PeopleDeps): Handler[] {
  return [...sessionHandlers(deps), ...userHandlers(deps), ...workspaceHandlers(deps)];
}

function sessionHandlers(deps: PeopleDeps): Handler[] {
  const { createLink, preview, logIn, current, logins, end } = createSessions(deps);
  return [
    implement(createSession, async ({ body, remoteAddress = '' }) => {
      const { code, name, kind = 'command', keep = false } = body;
      const { login, secret, user, standing } = await logIn(remoteAddress, { code, name, kind, keep });
      const { workspace, role } = standing;
      return withSecret<typeof createSession>({
        session: toSession(login, login.id),
        user: toUser(user),
        workspace: toWorkspace(workspace, role),
        secret,
      });
    }),
    implement(previewSession, async ({ body, remoteAddress = '' }) => {
      const { user, isOnly } = await preview(remoteAddress, body.code);
      return { object: 'session_preview', user: toUser(user), is_only_user: isOnly };
    }),
    implement(createLoginLink, async ({ caller, body }) => {
      const { code, expiresAt } = await createLink(loginOf(caller), { keep: body.keep ?? false });
      return withSecret<typeof createLoginLink>({
        object: 'login_link',
        code,
        path: `/#/sign-in/${code}`,
        expires_at: isoTime(expiresAt),
      });
    }),
    implement(getSession, async ({ caller }) => {
      const { login, user, standing } = await current(loginOf(caller));
      const { workspace, role } = standing;
      return {
        session: toSession(login, login.id),
        user: toUser(user),
        workspace: toWorkspace(workspace, role),
      };
    }),
    implement(listSessions, async ({ caller, query }) => {
      const login = loginOf(caller);
      return await pageOf(query, (page) => logins(login, page), {
        view: (one) => toSession(one, login.loginId),
        idOf: ({ id }) => id,
      });
    }),
    implement(deleteSession, async ({ caller, params }) => {
      await end(loginOf(caller), params.session);
      return { id: params.session, object: 'session', deleted: true };
    }),
    implement(signOut, async ({ caller }) => {
      const login = loginOf(caller);
      await end(login, login.loginId);
      return { id: login.loginId, object: 'session', deleted: true };
    }),
  ];
}

function userHandlers(deps: PeopleDeps): Handler[] {
  const all = createUsers(deps);
  return [
    implement(addUser, async ({ caller, body }) => {
      const { user, standing, code, expiresAt } = await all.addUser(loginOf(caller), {
        handle: body.handle,
        name: body.name,
      });
      return withSecret<typeof addUser>({
        user: toUser(user),
        workspace: toWorkspace(standing.workspace, standing.role),
        code,
        expires_at: isoTime(expiresAt),
      });
    }),
    implement(listUsers, ({ query }) => pageOf(query, all.users, { view: toUser, idOf: ({ id }) => id })),
    implement(createLoginCode, async ({ caller, params }) => {
      const { user, code, expiresAt } = await all.createLoginCode(loginOf(caller), params.user);
      return withSecret<typeof createLoginCode>({ user: toUser(user), code, expires_at: isoTime(expiresAt) });
    }),
  ];
}

const view = ({ workspace, role }: WorkspaceAndRole) => toWorkspace(workspace, role);

function workspaceHandlers(deps: PeopleDeps): Handler[] {
  const { create, list, show, change, members, setRole, remove } = createMemberships(deps);
  const [forMembers, forAdmins] = [permitted(deps, 'member'), permitted(deps, 'admin')];
  return [
    implement(createWorkspace, async ({ caller, body }) =>
      view(await create(loginOf(caller), { name: body.name, slug: body.slug })),
    ),
    implement(listWorkspaces, ({ caller, query }) =>
      pageOf(query, (page) => list(loginOf(caller), page), { view, idOf: ({ workspace }) => workspace.id }),
    ),
    implement(getWorkspace, async ({ caller, params }) =>
      view(await show(loginOf(caller), params.workspace)),
    ),
    implement(
      updateWorkspace,
      async ({ caller, params, body }) => {
        const { name, slug, members_may_issue_keys: membersMayIssueKeys, capture } = body;
        const changes = { name, slug, membersMayIssueKeys, capture };
        return view(await change(loginOf(caller), params.workspace, changes));
      },
      (call) => forAdmins(call),
    ),
    implement(
      listMembers,
      ({ caller, params, query }) =>
        pageOf(query, (page) => members(loginOf(caller), params.workspace, page), {
          view: toMember,
          idOf: ({ user }) => user.id,
        }),
      (call) => forMembers(call),
    ),
    implement(
      updateMember,
      async ({ caller, params, body }) =>
        toMember(await setRole(loginOf(caller), params.workspace, params.user, body.role)),
      (call) => forAdmins(call),
    ),
    implement(removeMember, async ({ caller, params }) => {
      const id = await remove(loginOf(caller), params.workspace, params.user);
      return { id, object: 'member', deleted: true };
    }),
    ...invitationHandlers(deps),
  ];
}

function invitationHandlers(deps: PeopleDeps): Handler[] {
  const { create, list, revoke, accept } = createInvitations(deps);
  const forAdmins = permitted(deps, 'admin');
  return [
    implement(
      createInvitation,
      async ({ caller, params, body }) => {
        // The body is optional.
        const invitation = { role: body?.role, note: body?.note };
        const { record, code } = await create(loginOf(caller), params.workspace, invitation);
        return withSecret<typeof createInvitation>({ invitation: toInvitation(record, deps.now()), code });
      },
      (call) => forAdmins(call),
    ),
    implement(
      listInvitations,
      ({ caller, params, query }) =>
        pageOf(query, (page) => list(loginOf(caller), params.workspace, page), {
          view: (record) => toInvitation(record, deps.now()),
          idOf: ({ id }) => id,
        }),
      (call) => forAdmins(call),
    ),
    implement(revokeInvitation, async ({ caller, params }) => {
      await revoke(loginOf(caller), params.workspace, params.invitation);
      return { id: params.invitation, object: 'invitation', deleted: true };
    }),
    implement(acceptInvitation, async ({ caller, body }) => view(await accept(loginOf(caller), body.code))),
  ];
}

function toUser({ id, handle, name, createdAt }: Omit<UserRecord, 'number'>): User {
  return { id, handle, name, created_at: isoTime(createdAt) };
}

function toSession(
  login: Pick<LoginRecord, 'id' | 'name' | 'createdAt' | 'lastUsedAt' | 'kind' | 'idleMs'>,
  currentId: string,
): Session {
  const { id, name, createdAt, lastUsedAt, kind } = login;
  const timeOrNull = (at: number | null) => (at === null ? null : isoTime(at));
  return {
    id,
    name,
    created_at: isoTime(createdAt),
    last_used_at: timeOrNull(lastUsedAt),
    is_current: id === currentId,
    kind,
    expires_at: timeOrNull(loginExpiry(login)),
  };
}

function toWorkspace(record: WorkspaceRecord, role: WorkspaceRole): Workspace {
  return {
    id: record.id,
    slug: record.slug,
    name: record.name,
    role,
    members_may_issue_keys: record.membersMayIssueKeys,
    capture: record.capture,
    created_at: isoTime(record.createdAt),
  };
}

function toMember({ user, role, joinedAt }: MemberRecord): Member {
  const { id, handle, name } = user;
  return { user: { id, handle, name }, role, joined_at: isoTime(joinedAt) };
}

function toInvitation(record: InvitationRecord, now: number): Invitation {
  return {
    id: record.id,
    role: record.role,
    note: record.note === '' ? null : record.note,
    status: statusOf(record, now),
    created_by: record.createdBy,
    created_at: isoTime(record.createdAt),
    expires_at: isoTime(record.expiresAt),
    accepted_by: record.acceptedBy,
  };
}

function statusOf({ acceptedAt, revokedAt, expiresAt }: InvitationRecord, now: number): Invitation['status'] {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'open';
}
