import type { Session, User } from '../../../shared/contract/people.ts';
import type { Invitation, Member, Workspace } from '../../../shared/contract/workspaces.ts';
import { isoTime } from '../../../shared/time.ts';
import type { InvitationRecord, MemberRecord } from './people-store.ts';
import type { LoginRecord, UserRecord, WorkspaceRecord, WorkspaceRole } from './store.ts';

export function toUser({ id, handle, name, createdAt }: Omit<UserRecord, 'number'>): User {
  return { id, handle, name, created_at: isoTime(createdAt) };
}

export function toSession(
  { id, name, createdAt, lastUsedAt }: Pick<LoginRecord, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>,
  currentId: string,
): Session {
  const last_used_at = lastUsedAt === null ? null : isoTime(lastUsedAt);
  return { id, name, created_at: isoTime(createdAt), last_used_at, is_current: id === currentId };
}

export function toWorkspace(record: WorkspaceRecord, role: WorkspaceRole): Workspace {
  return {
    id: record.id,
    slug: record.slug,
    name: record.name,
    role,
    members_may_issue_keys: record.membersMayIssueKeys,
    created_at: isoTime(record.createdAt),
  };
}

export function toMember({ user, role, joinedAt }: MemberRecord): Member {
  const { id, handle, name } = user;
  return { user: { id, handle, name }, role, joined_at: isoTime(joinedAt) };
}

export function toInvitation(record: InvitationRecord, now: number): Invitation {
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
