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
    kind: Type.Enum(['command', 'browser'], { description: 'Where it is used.' }),
    expires_at: nullable(Timestamp),
  },
  {
    $id: 'Session',
    description:
      '`expires_at` is when it ends without further use: for a browser 12 hours after its last use, or 30 days if it stays signed in. It is null for commands.',
  },
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

/** A one-time link that signs a browser in. */
export const LoginLink = Type.Object(
  {
    object: Type.Literal('login_link'),
    code: Type.String({ description: 'It works once and is not shown again.' }),
    path: Type.String({
      description:
        'Of the page that exchanges it: `/#/sign-in/…`. Browsers send no part of what follows `#`.',
    }),
    expires_at: Timestamp,
  },
  { $id: 'LoginLink' },
);

const KeepLogin = Type.Optional(
  Type.Boolean({ description: 'Whether the browser stays signed in for 30 days without use, not 12 hours.' }),
);

/** Creates a login for another program of the same user, without another person. */
export const createLoginLink = endpoint({
  id: 'createLoginLink',
  method: 'POST',
  path: '/v1/sessions/links',
  summary: 'Create a link that signs a browser in.',
  description:
    'To the dashboard, as the user of this login. It works once, within 60 seconds, and not after the login that made it has ended. When it is used a second time, the login that it made ends, as someone else may have seen it.',
  tag: 'Sessions',
  access: { login: 'any', loginOnly: true },
  body: StrictObject({ keep: KeepLogin }),
  result: LoginLink,
});

const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Case-insensitive, dash optional.',
});

/** What a page asks before it uses the code of a link, which anyone could have opened it with. */
export const previewSession = endpoint({
  id: 'previewSession',
  method: 'POST',
  path: '/v1/sessions/preview',
  summary: 'Show whom a code logs in.',
  description:
    'Of a link, or a login code. The code is not used up. Repeated wrong codes from one address return 429.',
  tag: 'Sessions',
  access: { anonymous: true },
  body: StrictObject({ code: Code }),
  result: Type.Object({
    object: Type.Literal('session_preview'),
    user: User,
    is_only_user: Type.Boolean({ description: 'Whether the host has no other users.' }),
  }),
  errors: ['permission'],
});

export const createSession = endpoint({
  id: 'createSession',
  method: 'POST',
  path: '/v1/sessions',
  summary: 'Log in with a code.',
  description:
    'Of a link, or one that the host’s admin creates, which works once within 15 minutes. Only this response contains the secret. Repeated wrong codes from one address return 429.',
  tag: 'Sessions',
  access: { anonymous: true },
  body: StrictObject({
    code: Code,
    name: Type.Optional(OneLine({ maxLength: 64, description: 'A name to recognise this login by.' })),
    kind: Type.Optional(
      Type.Enum(['command', 'browser'], {
        description: 'Default: `command`; a link makes one of a browser.',
      }),
    ),
    keep: KeepLogin,
  }),
  result: Type.Object({
    session: Session,
    user: User,
    workspace: Workspace,
    secret: Type.String({ description: 'The login key; send it as `Authorization: Bearer …`.' }),
  }),
  errors: ['permission'],
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
  errors: ['conflict'],
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
});

/** Creates a login code for a user, or for another machine of your own. */
export const createLoginCode = endpoint({
  id: 'createLoginCode',
  method: 'POST',
  path: '/v1/admin/users/{user}/login-codes',
  summary: 'Create a login code.',
  description: 'It works once, within 15 minutes, and not after the login that made it has ended.',
  tag: 'Users',
  access: { login: 'owner', loginOnly: true },
  params: Type.Object({ user: memberRef('The id or handle of a user; `me` is yourself.') }),
  result: LoginCode,
});

export type User = Static<typeof User>;
export type Session = Static<typeof Session>;
export type LoginCode = Static<typeof LoginCode>;
