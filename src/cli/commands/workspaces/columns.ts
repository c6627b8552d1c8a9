import type { Invitation, Member, Workspace } from '../../../shared/contract/workspaces.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';

export const workspaceColumns = (now: number): Column<Workspace>[] => [
  { title: 'id', value: ({ id }) => id, isSpare: true },
  { title: 'slug', value: ({ slug }) => slug, essential: true },
  { title: 'name', value: ({ name }) => name },
  { title: 'role', value: ({ role }) => role },
  {
    title: 'members_may_issue_keys',
    value: (workspace) => workspace.members_may_issue_keys,
    isSpare: true,
  },
  {
    title: 'created_at',
    value: (workspace) => workspace.created_at,
    show: (workspace) => ago(workspace.created_at, now),
    isSpare: true,
  },
];

export const memberColumns = (now: number): Column<Member>[] => [
  { title: 'id', value: ({ user }) => user.id, isSpare: true },
  { title: 'handle', value: ({ user }) => user.handle, essential: true },
  { title: 'name', value: ({ user }) => user.name },
  { title: 'role', value: ({ role }) => role },
  { title: 'joined', value: (member) => member.joined_at, show: (member) => ago(member.joined_at, now) },
];

export const invitationColumns = (now: number): Column<Invitation>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'role', value: ({ role }) => role },
  { title: 'note', value: ({ note }) => note, show: ({ note }) => note ?? '' },
  {
    title: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'open' ? 'green' : 'dim'),
  },
  {
    title: 'expires',
    value: (invitation) => invitation.expires_at,
    show: (invitation) => ago(invitation.expires_at, now),
    isSpare: true,
  },
];
