import {
  addUser,
  createLoginCode,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  listUsers,
  signOut,
} from '../../../shared/contract/people.ts';
import { isoTime } from '../../../shared/time.ts';
import { type Handler, implement, loginOf } from '../../handler.ts';
import { pageOf, withSecret } from '../../replies.ts';
import { type PeopleNeeds, sessions, users } from './people.ts';
import { toSession, toUser, toWorkspace } from './views.ts';
import { workspaceHandlers } from './workspace-handlers.ts';

/** Everything about people: users, sessions, workspaces, members and invitations. */
export function peopleHandlers(needs: PeopleNeeds): Handler[] {
  return [...sessionHandlers(needs), ...userHandlers(needs), ...workspaceHandlers(needs)];
}

function sessionHandlers(needs: PeopleNeeds): Handler[] {
  const { logIn, current, logins, end } = sessions(needs);
  return [
    implement(createSession, async ({ body, remoteAddress = '' }) => {
      const { login, secret, user, standing } = await logIn(remoteAddress, {
        code: body.code,
        name: body.name,
      });
      const { workspace, role } = standing;
      return withSecret<typeof createSession>({
        session: toSession(login, login.id),
        user: toUser(user),
        workspace: toWorkspace(workspace, role),
        secret,
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

function userHandlers(needs: PeopleNeeds): Handler[] {
  const all = users(needs);
  return [
    implement(addUser, async ({ body }) => {
      const { user, standing, code, expiresAt } = await all.addUser({ handle: body.handle, name: body.name });
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
