import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  deleted,
  Handle,
  listOf,
  nullable,
  OneLine,
  pageQuery,
  StrictObject,
  Timestamp,
} from './vocabulary.ts';
import { memberRef, Workspace } from './workspaces.ts';

/** A user of this host. */
export const User = Type.Object(
  {
    id: Type.String({ description: '`usr_…`' }),
    handle: Type.String(),
    name: Type.String(),
    created_at: Timestamp,
  },
  { $id: 'User' },
);

/** A login without its secret. */
export const Session = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'The name of the machine or program.' }),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    is_current: Type.Boolean({ description: 'Whether it is the calling login.' }),
  },
  { $id: 'Session' },
);

/** A one-time login code. */
export const LoginCode = Type.Object(
  {
    user: User,
    code: Type.String({
      description: 'Ten letters and digits: `7K3QM-9XWZ2`. It works once and is not shown again.',
    }),
    expires_at: Timestamp,
  },
  { $id: 'LoginCode' },
);

export const createSession = endpoint({
  id: 'createSession',
  method: 'POST',
  path: '/v1/sessions',
  summary: 'Log in with a code.',
  description:
    'The host’s admin creates the code, which works once within 15 minutes. Only this response contains the secret. Repeated wrong codes from one address return 429.',
  tag: 'Sessions',
  access: { anonymous: true },
  body: StrictObject({
    code: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Case-insensitive, dash optional.',
    }),
    name: Type.Optional(OneLine({ maxLength: 64, description: 'A name to recognise this login by.' })),
  }),
  result: Type.Object({
    session: Session,
    user: User,
    workspace: Workspace,
    secret: Type.String({ description: 'The login key; send it as `Authorization: Bearer …`.' }),
  }),
  errors: ['unauthenticated', 'permission', 'invalid_request', 'rate_limited'],
});

export const getSession = endpoint({
  id: 'getSession',
  method: 'GET',
  path: '/v1/sessions/current',
  summary: 'Get the current login.',
  description: 'The calling login, its user, and the workspace it acts in.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  result: Type.Object({ session: Session, user: User, workspace: Workspace }),
  errors: ['unauthenticated', 'signed_out'],
});

export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/v1/sessions',
  summary: 'List your logins.',
  description: 'Active logins, oldest first.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  query: Type.Object(pageQuery('key')),
  result: listOf(Session),
  errors: ['unauthenticated', 'signed_out', 'invalid_request'],
});

export const signOut = endpoint({
  id: 'signOut',
  method: 'DELETE',
  path: '/v1/sessions/current',
  summary: 'Sign out.',
  description: 'Takes effect immediately: calls with this login are rejected and its running streams end.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  result: deleted('session'),
  errors: ['unauthenticated', 'signed_out'],
});

/** Ends another login of the same user, for example on a lost machine. */
export const deleteSession = endpoint({
  id: 'deleteSession',
  method: 'DELETE',
  path: '/v1/sessions/{session}',
  summary: 'End one of your logins.',
  description: 'Takes effect immediately: calls with that login are rejected and its running streams end.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  params: Type.Object({
    session: Type.String({ minLength: 1, maxLength: 64, description: 'The id of one of your logins.' }),
  }),
  result: deleted('session'),
  errors: ['unauthenticated', 'signed_out', 'not_found', 'invalid_request'],
});

export const addUser = endpoint({
  id: 'addUser',
  method: 'POST',
  path: '/v1/admin/users',
  summary: 'Add a user.',
  description:
    'Creates the user with a workspace of their own and a login code that is valid for 15 minutes.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  body: StrictObject({
    handle: Handle(32),
    name: Type.Optional(OneLine({ maxLength: 100, description: 'Default: the handle.' })),
  }),
  result: Type.Object({ user: User, workspace: Workspace, code: Type.String(), expires_at: Timestamp }),
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request', 'conflict'],
});

export const listUsers = endpoint({
  id: 'listUsers',
  method: 'GET',
  path: '/v1/admin/users',
  summary: 'List users.',
  description: 'Oldest first.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  query: Type.Object(pageQuery('usr')),
  result: listOf(User),
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request'],
});

/** Creates a login code for a user, or for another machine of your own. */
export const createLoginCode = endpoint({
  id: 'createLoginCode',
  method: 'POST',
  path: '/v1/admin/users/{user}/login-codes',
  summary: 'Create a login code.',
  description: 'It works once, within 15 minutes.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  params: Type.Object({ user: memberRef('The id or handle of a user; `me` is yourself.') }),
  result: LoginCode,
  errors: ['unauthenticated', 'signed_out', 'permission', 'invalid_request', 'not_found'],
});

export type User = Static<typeof User>;
export type Session = Static<typeof Session>;
export type LoginCode = Static<typeof LoginCode>;
