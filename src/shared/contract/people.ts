import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { deleted, listOf, OneLine, pageQuery, Timestamp } from './vocabulary.ts';
import { memberRef, Workspace } from './workspaces.ts';

/** A person on this host. */
export const User = Type.Object(
  {
    id: Type.String({ description: '`usr_…`' }),
    handle: Type.String(),
    name: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'User' },
);

/** A login, never with its secret. */
export const Session = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'Of the machine or program that logged in.' }),
    created_at: Timestamp,
    is_current: Type.Boolean({ description: 'Whether it is the one that asks.' }),
  },
  { $id: 'Session' },
);

/** A code that lets a user log in once. */
export const LoginCode = Type.Object(
  {
    user: User,
    code: Type.String({
      description: 'Ten letters and digits: `7K3QM-9XWZ2`. It works once and is never told again.',
    }),
    expires_at: Timestamp,
  },
  { $id: 'LoginCode' },
);

/** Exchanges a code for a login key. */
export const createSession = endpoint({
  id: 'createSession',
  method: 'POST',
  path: '/v1/sessions',
  summary: 'Log in with a code.',
  description:
    'Whoever runs the host makes the code; it works once, within 15 minutes. The secret is in this answer and never again. Wrong codes of one address are answered 429 after a few.',
  tag: 'Sessions',
  access: { anonymous: true },
  surface: 'v1',
  body: Type.Object(
    {
      code: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Upper or lower case, with or without its dash.',
      }),
      name: Type.Optional(
        OneLine({ maxLength: 64, description: 'By which this login is recognised in lists.' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    session: Session,
    user: User,
    workspace: Workspace,
    secret: Type.String({ description: 'The login key, to send as `Authorization: Bearer …`.' }),
  }),
  errors: ['unauthenticated', 'permission', 'invalid_request', 'rate_limited'],
});

/** The calling login, whose it is, and the workspace that it acts in. */
export const getSession = endpoint({
  id: 'getSession',
  method: 'GET',
  path: '/v1/sessions/current',
  summary: 'Tell who is logged in.',
  description: 'The calling login, its user, and the workspace that it acts in.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  result: Type.Object({ session: Session, user: User, workspace: Workspace }),
  errors: ['unauthenticated', 'signed_out'],
});

/** Lists the caller's own logins. */
export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/v1/sessions',
  summary: 'List your logins.',
  description: 'Those that are good, oldest first.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  query: Type.Object(pageQuery),
  result: listOf(Session),
  errors: ['unauthenticated', 'signed_out', 'invalid_request'],
});

/** Signs out. */
export const signOut = endpoint({
  id: 'signOut',
  method: 'DELETE',
  path: '/v1/sessions/current',
  summary: 'Sign out.',
  description: 'It takes effect now: calls with this login are refused, and its running streams end.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  result: deleted('session'),
  errors: ['unauthenticated', 'signed_out'],
});

/** Ends another login of the same user, as of a machine that was lost. */
export const deleteSession = endpoint({
  id: 'deleteSession',
  method: 'DELETE',
  path: '/v1/sessions/{session}',
  summary: 'End one of your logins.',
  description: 'It takes effect now: calls with that login are refused, and its running streams end.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  params: Type.Object({
    session: Type.String({ minLength: 1, maxLength: 64, description: 'The id of one of your logins.' }),
  }),
  result: deleted('session'),
  errors: ['unauthenticated', 'signed_out', 'not_found', 'invalid_request'],
});

/** Adds a person to this host. */
export const addUser = endpoint({
  id: 'addUser',
  method: 'POST',
  path: '/v1/admin/users',
  summary: 'Add a user.',
  description: 'With a workspace of their own, and a code to log in with within 15 minutes.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  body: Type.Object(
    {
      handle: Type.String({
        minLength: 1,
        maxLength: 32,
        pattern: '^[A-Za-z0-9][A-Za-z0-9_-]*$',
        description: 'Letters, digits, `_` and `-`, like `ann-lee`. Unique on this host; kept in lower case.',
      }),
      name: Type.Optional(OneLine({ maxLength: 100, description: 'The handle unless told.' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ user: User, workspace: Workspace, code: Type.String(), expires_at: Timestamp }),
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request', 'conflict'],
});

/** Lists the people of this host. */
export const listUsers = endpoint({
  id: 'listUsers',
  method: 'GET',
  path: '/v1/admin/users',
  summary: 'List the users of this host.',
  description: 'Oldest first.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  query: Type.Object(pageQuery),
  result: listOf(User),
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request'],
});

/** Makes a code for somebody to log in with; also for oneself, elsewhere. */
export const createLoginCode = endpoint({
  id: 'createLoginCode',
  method: 'POST',
  path: '/v1/admin/users/{user}/login-codes',
  summary: 'Make a login code.',
  description: 'It works once, within 15 minutes.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  surface: 'v1',
  params: Type.Object({ user: memberRef('The id or handle of a user; `me` is yourself.') }),
  result: LoginCode,
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request', 'not_found'],
});

export type User = Static<typeof User>;
export type Session = Static<typeof Session>;
export type LoginCode = Static<typeof LoginCode>;
