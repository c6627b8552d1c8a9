import type { PageRequest } from '../../base/replies.ts';
import type {
  LoginRecord,
  NewLogin,
  NewWorkspace,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
} from './store.ts';

/** A one-time login code, also that of a link. Times in milliseconds since 1970. */
export interface LoginCodeRecord {
  /** SHA-256 of the normalised code, lowercase hex. */
  digest: string;
  userId: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  /** The login that made it: when that ends, the code does, too. */
  makerId: string | null;
  /** Whether the browser that a link signs in stays signed in; null for a code that is of no link. */
  keep: boolean | null;
  /** The login that it was used for. */
  loginId: string | null;
}

/** Without what only its use decides. */
export type NewLoginCode = Omit<LoginCodeRecord, 'usedAt' | 'loginId'>;

/**
 * What the use of a link did: a login of `userId`, which stays signed in if `keep` is set; or the end of the login that an earlier use
 * made, and of those that came from it.
 */
export type LinkOutcome =
  | { userId: string; keep: boolean }
  | { ended: string[]; userId: string }
  | 'expired'
  | 'unknown';

/** A one-time code with which a user joins a workspace. */
export interface InvitationRecord {
  id: string;
  workspaceId: string;
  digest: string;
  role: WorkspaceRole;
  /** A note by its creator; may be empty. */
  note: string;
  createdBy: string;
  createdAt: number;
  expiresAt: number;
  acceptedBy: string | null;
  acceptedAt: number | null;
  revokedAt: number | null;
}

export interface MemberRecord {
  user: UserRecord;
  role: WorkspaceRole;
  joinedAt: number;
}

/** A workspace to create under the first free slug. */
export interface WorkspaceCandidate extends Omit<NewWorkspace, 'slug'> {
  slugs: readonly string[];
}

/** The roles that a decision was based on; the write is skipped if one has changed. */
export type ExpectedRoles = readonly { userId: string; role: WorkspaceRole }[];

/** The removal of a member. */
export interface Removal {
  workspaceId: string;
  userId: string;
  at: number;
  expected: ExpectedRoles;
  /** The user's new own workspace, created if none is left. */
  fallback: WorkspaceCandidate;
}

export type RoleOutcome = 'done' | 'no-member' | 'last-owner' | 'changed';

export interface PeopleStore {
  /** Adds a user with an own workspace and a login code; false if the handle is taken. */
  addUser(added: {
    user: Omit<UserRecord, 'number'>;
    workspace: WorkspaceCandidate;
    code: NewLoginCode;
  }): Promise<boolean>;
  /** By id or handle. */
  user(reference: string): Promise<UserRecord | undefined>;
  /** Whom a code would log in at a time; undefined for a code that would log in no one. */
  userOfCode(digest: string, at: number): Promise<UserRecord | undefined>;
  users(page: PageRequest): Promise<UserRecord[]>;
  /** Also removes codes that expired a day before this one was created. False if the login that makes it has ended. */
  insertCode(code: NewLoginCode): Promise<boolean>;
  /** Consumes a code, inserts the login and returns its user's id; undefined if the code is invalid at a time. */
  redeemCode(digest: string, login: Omit<NewLogin, 'userId'>, at: number): Promise<string | undefined>;
  /** The same for a link, whose login may idle for one of two times. Only the first use makes a login, and the second ends it. */
  redeemLink(
    digest: string,
    login: Omit<NewLogin, 'userId' | 'idleMs'>,
    how: { idleMs: { kept: number; other: number }; at: number },
  ): Promise<LinkOutcome>;
  /** A user's logins that are active at a time, oldest first. */
  logins(userId: string, page: PageRequest & { at: number }): Promise<LoginRecord[]>;
  /** Ends the codes that it made, too. False if the user has no such active login. */
  revokeLogin(userId: string, loginId: string, at: number): Promise<boolean>;

  /** Creates it with its owner; returns the slug, or undefined if every slug is taken. */
  createWorkspace(workspace: WorkspaceCandidate, ownerId: string): Promise<string | undefined>;
  /** False if the slug is taken. */
  changeWorkspace(
    workspaceId: string,
    changes: Partial<Pick<WorkspaceRecord, 'slug' | 'name' | 'membersMayIssueKeys' | 'capture'>>,
  ): Promise<boolean>;
  workspacesOf(
    userId: string,
    page: PageRequest,
  ): Promise<{ workspace: WorkspaceRecord; role: WorkspaceRole }[]>;

  members(workspaceId: string, page: PageRequest): Promise<MemberRecord[]>;
  member(workspaceId: string, userId: string): Promise<MemberRecord | undefined>;
  /** A workspace keeps an owner. Revokes the open invitations of someone who becomes a plain member. */
  setRole(change: {
    workspaceId: string;
    userId: string;
    role: WorkspaceRole;
    at: number;
    expected: ExpectedRoles;
  }): Promise<RoleOutcome>;
  /** Passes the member's keys to the workspace's first owner, and revokes their open invitations. */
  removeMember(removal: Removal): Promise<RoleOutcome>;

  /** False if an expected role has changed. */
  insertInvitation(record: InvitationRecord, expected: ExpectedRoles): Promise<boolean>;
  /** Newest first. */
  invitations(workspaceId: string, page: PageRequest): Promise<InvitationRecord[]>;
  /** False if there is no such open invitation. */
  revokeInvitation(workspaceId: string, invitationId: string, at: number): Promise<boolean>;
  /** Consumes it and adds the member; `unknown` if it is invalid at `at`. It is not consumed for a `member`. */
  acceptInvitation(accepted: {
    digest: string;
    userId: string;
    at: number;
  }): Promise<{ workspaceId: string; role: WorkspaceRole } | 'unknown' | 'member'>;
}
