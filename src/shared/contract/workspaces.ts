import { type Static, Type } from 'typebox';
import { type Access, endpoint } from './endpoint.ts';
import {
  deleted,
  listOf,
  nullable,
  OneLine,
  pageQuery,
  Timestamp,
  WorkspaceReference,
} from './vocabulary.ts';

/** Names a user in a path. */
export function memberRef(description: string) {
  return Type.String({ minLength: 1, maxLength: 64, description });
}

export const roleNames = ['owner', 'admin', 'member'] as const;

const MemberRole = Type.Enum([...roleNames]);

/** A workspace as one of its members sees it. */
export const Workspace = Type.Object(
  {
    id: Type.String({ description: '`ws_…`' }),
    slug: Type.String({ description: 'Names it in paths, as its id does.' }),
    name: Type.String(),
    role: Type.Enum([...roleNames], { description: 'What the caller is in it.' }),
    members_may_issue_keys: Type.Boolean({ description: 'Whether plain members may issue API keys.' }),
    created_at: Timestamp,
  },
  { $id: 'Workspace' },
);

/** Somebody's part in a workspace. */
export const Member = Type.Object(
  {
    user: Type.Object({ id: Type.String(), handle: Type.String(), name: Type.String() }),
    role: MemberRole,
    joined_at: Timestamp,
  },
  { $id: 'Member' },
);

/** An invitation, never with its code. */
export const Invitation = Type.Object(
  {
    id: Type.String({ description: '`invite_…`' }),
    role: MemberRole,
    note: nullable(Type.String({ description: 'For whom it is, in the words of whoever made it.' })),
    status: Type.Enum(['open', 'accepted', 'revoked', 'expired']),
    created_by: Type.String({ description: 'The id of the user who made it.' }),
    created_at: Timestamp,
    expires_at: Timestamp,
    accepted_by: nullable(Type.String({ description: 'The id of the user who joined with it.' })),
  },
  { $id: 'Invitation' },
);

const Slug = Type.String({
  minLength: 1,
  maxLength: 48,
  pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  description: 'Unique on this host: lower-case letters, digits and dashes.',
});

const anyLogin = { login: 'any', loginOnly: true } as const satisfies Access;
const refusals = ['unauthenticated', 'signed_out', 'invalid_request'] as const;
const inWorkspace = [...refusals, 'not_found'] as const;
const params = Type.Object({ workspace: WorkspaceReference });

/** Makes a workspace that the caller owns. */
export const createWorkspace = endpoint({
  id: 'createWorkspace',
  method: 'POST',
  path: '/v1/workspaces',
  summary: 'Create a workspace.',
  description: 'You are its owner.',
  tag: 'Workspaces',
  access: anyLogin,
  surface: 'v1',
  body: Type.Object(
    {
      name: OneLine({ maxLength: 100, description: 'For people.' }),
      slug: Type.Optional(Slug),
    },
    { additionalProperties: false },
  ),
  result: Workspace,
  errors: [...refusals, 'conflict'],
});

/** Lists the workspaces that the caller belongs to. */
export const listWorkspaces = endpoint({
  id: 'listWorkspaces',
  method: 'GET',
  path: '/v1/workspaces',
  summary: 'List your workspaces.',
  tag: 'Workspaces',
  access: anyLogin,
  surface: 'v1',
  query: Type.Object(pageQuery),
  result: listOf(Workspace),
  errors: refusals,
});

export const getWorkspace = endpoint({
  id: 'getWorkspace',
  method: 'GET',
  path: '/v1/workspaces/{workspace}',
  summary: 'Get a workspace.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  surface: 'v1',
  params,
  result: Workspace,
  errors: inWorkspace,
});

export const updateWorkspace = endpoint({
  id: 'updateWorkspace',
  method: 'PATCH',
  path: '/v1/workspaces/{workspace}',
  summary: 'Change a workspace.',
  description: 'What is left out stays as it is.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  surface: 'v1',
  params,
  body: Type.Object(
    {
      name: Type.Optional(OneLine({ maxLength: 100, description: 'For people.' })),
      slug: Type.Optional(Slug),
      members_may_issue_keys: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  result: Workspace,
  errors: [...inWorkspace, 'permission', 'conflict'],
});

export const listMembers = endpoint({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/members',
  summary: 'List the members of a workspace.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  surface: 'v1',
  params,
  query: Type.Object(pageQuery),
  result: listOf(Member),
  errors: inWorkspace,
});

const memberParams = Type.Object({
  workspace: WorkspaceReference,
  user: memberRef('The id or handle of a member; `me` is yourself.'),
});

/** Changes what a member is. A workspace keeps an owner; admins neither make nor change owners. */
export const updateMember = endpoint({
  id: 'updateMember',
  method: 'PATCH',
  path: '/v1/workspaces/{workspace}/members/{user}',
  summary: 'Change a member’s role.',
  description: 'Admins neither make nor change owners, and the last owner stays one: 409 `conflict`.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  surface: 'v1',
  params: memberParams,
  body: Type.Object({ role: MemberRole }, { additionalProperties: false }),
  result: Member,
  errors: [...inWorkspace, 'permission', 'conflict'],
});

/** Takes somebody out of a workspace; with `me`, leaves it. */
export const removeMember = endpoint({
  id: 'removeMember',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/members/{user}',
  summary: 'Remove a member, or leave.',
  description:
    'Everybody may leave, but the last owner: 409 `conflict`. The API keys of whoever goes pass to the workspace’s owner and keep working, without the scopes `keys`, `billing` and `workspace`: they would act for the owner.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  surface: 'v1',
  params: memberParams,
  result: deleted('member'),
  errors: [...inWorkspace, 'permission', 'conflict'],
});

/** Makes a code that lets somebody join. */
export const createInvitation = endpoint({
  id: 'createInvitation',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/invitations',
  summary: 'Invite somebody.',
  description:
    'The code is in this answer and never again; it lets one person of this host join within seven days. Admins invite no owners.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  surface: 'v1',
  params,
  body: Type.Object(
    {
      role: Type.Optional(Type.Enum([...roleNames], { description: '`member` unless told.' })),
      note: Type.Optional(OneLine({ maxLength: 100, description: 'For whom it is.' })),
    },
    { additionalProperties: false },
  ),
  bodyRequired: false,
  result: Type.Object({ invitation: Invitation, code: Type.String() }),
  errors: [...inWorkspace, 'permission'],
});

export const listInvitations = endpoint({
  id: 'listInvitations',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/invitations',
  summary: 'List the invitations to a workspace.',
  description: 'Newest first, without their codes; those that ended too.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  surface: 'v1',
  params,
  query: Type.Object(pageQuery),
  result: listOf(Invitation),
  errors: [...inWorkspace, 'permission'],
});

export const revokeInvitation = endpoint({
  id: 'revokeInvitation',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/invitations/{invitation}',
  summary: 'Revoke an invitation.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  surface: 'v1',
  params: Type.Object({
    workspace: WorkspaceReference,
    invitation: Type.String({ minLength: 1, maxLength: 64, description: 'Its id: `invite_…`.' }),
  }),
  result: deleted('invitation'),
  errors: [...inWorkspace, 'permission'],
});

/** Joins a workspace. */
export const acceptInvitation = endpoint({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/v1/invitations/accept',
  summary: 'Join a workspace.',
  description: 'A code that is wrong, used, revoked or past its time is 404 `not_found`.',
  tag: 'Workspaces',
  access: anyLogin,
  surface: 'v1',
  body: Type.Object(
    {
      code: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'Upper or lower case, with or without its dashes.',
      }),
    },
    { additionalProperties: false },
  ),
  result: Workspace,
  errors: [...inWorkspace, 'conflict'],
});

export type Workspace = Static<typeof Workspace>;
export type Member = Static<typeof Member>;
export type Invitation = Static<typeof Invitation>;
