import { type Static, Type } from 'typebox';
import { captureLevels } from '../constants/capture-levels.ts';
import { type Access, endpoint } from './endpoint.ts';
import {
  deleted,
  listOf,
  maybe,
  nullable,
  OneLine,
  pageQuery,
  StrictObject,
  Timestamp,
  WorkspaceReference,
} from './vocabulary.ts';

/** A user in a path. */
export function memberRef(description: string) {
  return Type.String({ minLength: 1, maxLength: 64, description });
}

export const roleNames = ['owner', 'admin', 'member'] as const;

const MemberRole = Type.Enum([...roleNames]);

/** A workspace from the view of one of its members. */
export const Workspace = Type.Object(
  {
    id: Type.String({ description: '`ws_…`' }),
    slug: Type.String({ description: 'Can be used in paths instead of the id.' }),
    name: Type.String(),
    role: Type.Enum([...roleNames], { description: 'The caller’s role.' }),
    members_may_issue_keys: Type.Boolean({ description: 'Whether plain members may issue API keys.' }),
    capture: nullable(
      Type.Enum([...captureLevels], {
        description:
          'The most of the content of its calls that is kept, which is not more than what the host keeps; null: the host’s own workspace has what the host keeps, others nothing.',
      }),
    ),
    created_at: Timestamp,
  },
  { $id: 'Workspace' },
);

/** A user's membership of a workspace. */
export const Member = Type.Object(
  {
    user: Type.Object({ id: Type.String(), handle: Type.String(), name: Type.String() }),
    role: MemberRole,
    joined_at: Timestamp,
  },
  { $id: 'Member' },
);

/** An invitation without its code. */
export const Invitation = Type.Object(
  {
    id: Type.String({ description: '`invite_…`' }),
    role: MemberRole,
    note: nullable(Type.String({ description: 'A note on whom it is for.' })),
    status: Type.Enum(['open', 'accepted', 'revoked', 'expired']),
    created_by: Type.String({ description: 'The id of the user who created it.' }),
    created_at: Timestamp,
    expires_at: Timestamp,
    accepted_by: nullable(Type.String({ description: 'The id of the user who accepted it.' })),
  },
  { $id: 'Invitation' },
);

const Slug = Type.String({
  minLength: 1,
  maxLength: 48,
  pattern: '^(?!me$)[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  description: 'Unique on this host: lowercase letters, digits and dashes. `me` is reserved.',
});

const anyLogin = { login: 'any', loginOnly: true } as const satisfies Access;
const params = Type.Object({ workspace: WorkspaceReference });

export const createWorkspace = endpoint({
  id: 'createWorkspace',
  method: 'POST',
  path: '/v1/workspaces',
  summary: 'Create a workspace.',
  description: 'You become its owner.',
  tag: 'Workspaces',
  access: anyLogin,
  body: StrictObject({
    name: OneLine({ maxLength: 100, description: 'A display name.' }),
    slug: Type.Optional(Slug),
  }),
  result: Workspace,
  errors: ['conflict'],
});

export const listWorkspaces = endpoint({
  id: 'listWorkspaces',
  method: 'GET',
  path: '/v1/workspaces',
  summary: 'List your workspaces.',
  tag: 'Workspaces',
  access: anyLogin,
  query: Type.Object(pageQuery('ws')),
  result: listOf(Workspace),
});

export const getWorkspace = endpoint({
  id: 'getWorkspace',
  method: 'GET',
  path: '/v1/workspaces/{workspace}',
  summary: 'Get a workspace.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  params,
  result: Workspace,
});

export const updateWorkspace = endpoint({
  id: 'updateWorkspace',
  method: 'PATCH',
  path: '/v1/workspaces/{workspace}',
  summary: 'Update a workspace.',
  description: 'Omitted members are unchanged.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  params,
  body: StrictObject({
    name: Type.Optional(OneLine({ maxLength: 100, description: 'A display name.' })),
    slug: Type.Optional(Slug),
    members_may_issue_keys: Type.Optional(Type.Boolean()),
    capture: maybe(
      Type.Enum([...captureLevels], {
        description: 'What is kept of the content of its calls; null clears.',
      }),
    ),
  }),
  result: Workspace,
  errors: ['conflict'],
});

export const listMembers = endpoint({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/members',
  summary: 'List the members of a workspace.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  params,
  query: Type.Object(pageQuery('usr')),
  result: listOf(Member),
});

const memberParams = Type.Object({
  workspace: WorkspaceReference,
  user: memberRef('The id or handle of a member; `me` is yourself.'),
});

/** Changes a member's role. A workspace always has an owner; admins cannot add or remove owners. */
export const updateMember = endpoint({
  id: 'updateMember',
  method: 'PATCH',
  path: '/v1/workspaces/{workspace}/members/{user}',
  summary: 'Change a member’s role.',
  description: 'Admins cannot add or remove owners; demoting the last owner returns 409 `conflict`.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  params: memberParams,
  body: StrictObject({ role: MemberRole }),
  result: Member,
  errors: ['conflict'],
});

/** Removes a member; with `me`, leaves the workspace. */
export const removeMember = endpoint({
  id: 'removeMember',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/members/{user}',
  summary: 'Remove a member or leave.',
  description:
    'Any member may leave, except the last owner: 409 `conflict`. The API keys of the leaving member pass to the workspace’s owner and keep working, without the scopes `keys`, `billing` and `workspace`, which would act for the owner.',
  tag: 'Workspaces',
  access: { login: 'member', loginOnly: true },
  params: memberParams,
  result: deleted('member'),
  errors: ['conflict'],
});

export const createInvitation = endpoint({
  id: 'createInvitation',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/invitations',
  summary: 'Create an invitation.',
  description:
    'Only this response contains the code, which lets one user of this host join within seven days. Admins cannot invite owners.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  params,
  body: StrictObject({
    role: Type.Optional(Type.Enum([...roleNames], { description: 'Default: `member`.' })),
    note: Type.Optional(OneLine({ maxLength: 100, description: 'A note on whom it is for.' })),
  }),
  bodyRequired: false,
  result: Type.Object({ invitation: Invitation, code: Type.String() }),
});

export const listInvitations = endpoint({
  id: 'listInvitations',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/invitations',
  summary: 'List invitations.',
  description: 'Newest first, without codes; includes ended ones.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  params,
  query: Type.Object(pageQuery('invite')),
  result: listOf(Invitation),
});

export const revokeInvitation = endpoint({
  id: 'revokeInvitation',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/invitations/{invitation}',
  summary: 'Revoke an invitation.',
  tag: 'Workspaces',
  access: { login: 'admin', loginOnly: true },
  params: Type.Object({
    workspace: WorkspaceReference,
    invitation: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'The id of an invitation: `invite_…`.',
    }),
  }),
  result: deleted('invitation'),
});

export const acceptInvitation = endpoint({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/v1/invitations/accept',
  summary: 'Join a workspace.',
  description: 'A wrong, used, revoked or expired code returns 404 `not_found`.',
  tag: 'Workspaces',
  access: anyLogin,
  body: StrictObject({
    code: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Case-insensitive, dashes optional.',
    }),
  }),
  result: Workspace,
  errors: ['conflict'],
});

export type Workspace = Static<typeof Workspace>;
export type Member = Static<typeof Member>;
export type Invitation = Static<typeof Invitation>;
