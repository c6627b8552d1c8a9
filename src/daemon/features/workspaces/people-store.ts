import type { PageRequest } from '../../replies.ts';
import type {
  LoginRecord,
  NewWorkspace,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
} from './workspaces-store.ts';

/** A one-time code that lets a user log in. Times in milliseconds since 1970. */
export interface LoginCodeRecord {
  /** SHA-256 of the code as it is compared, lower-case hex. */
  digest: string;
  userId: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

/** A one-time code that lets whoever is logged in join a workspace. */
export interface InvitationRecord {
  id: string;
  workspaceId: string;
  digest: string;
  role: WorkspaceRole;
  /** For whom it is, in the words of whoever made it; may be empty. */
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

/** A workspace to be made, under the first of these slugs that is free. */
export interface WorkspaceWish extends Omit<NewWorkspace, 'slug'> {
  slugs: readonly string[];
}

/** Roles in a workspace that something was decided by; when one of them is another by then, nothing is done. */
export type Decided = readonly { userId: string; role: WorkspaceRole }[];

/** The end of somebody's time in a workspace. */
export interface Removal {
  workspaceId: string;
  userId: string;
  at: number;
  given: Decided;
  /** Their new own workspace, made when they have none left. */
  fallback: WorkspaceWish;
}

export type RoleOutcome = 'done' | 'no-member' | 'last-owner' | 'changed';

export interface PeopleStore {
  /** A user, the workspace of their own, and a code to log in with; false when the handle is taken. */
  addUser(added: {
    user: Omit<UserRecord, 'number'>;
    workspace: WorkspaceWish;
    code: LoginCodeRecord;
  }): Promise<boolean>;
  /** By id or handle. */
  user(reference: string): Promise<UserRecord | undefined>;
  users(page: PageRequest): Promise<UserRecord[]>;
  /** Also forgets codes that ended before this one was made. */
  insertCode(record: LoginCodeRecord): Promise<void>;
  /** Uses a code up and writes the login of its user, whose id comes back; undefined when it is not good at `createdAt`. */
  redeemCode(digest: string, login: Omit<LoginRecord, 'userId'>): Promise<string | undefined>;
  /** The logins of a user that are good, oldest first. */
  logins(userId: string, page: PageRequest): Promise<LoginRecord[]>;
  /** Whether this call ended it: false when the user has no such login. */
  revokeLogin(userId: string, loginId: string, at: number): Promise<boolean>;

  /** With its owner; undefined when every slug is taken, else the slug. */
  createWorkspace(workspace: WorkspaceWish, ownerId: string): Promise<string | undefined>;
  /** False when the slug is taken. */
  changeWorkspace(
    workspaceId: string,
    changes: Partial<Pick<WorkspaceRecord, 'slug' | 'name' | 'membersMayIssueKeys'>>,
  ): Promise<boolean>;
  workspacesOf(
    userId: string,
    page: PageRequest,
  ): Promise<{ workspace: WorkspaceRecord; role: WorkspaceRole }[]>;

  members(workspaceId: string, page: PageRequest): Promise<MemberRecord[]>;
  member(workspaceId: string, userId: string): Promise<MemberRecord | undefined>;
  /** A workspace keeps an owner. Whoever becomes a plain member loses the open invitations that they made. */
  setRole(change: {
    workspaceId: string;
    userId: string;
    role: WorkspaceRole;
    at: number;
    given: Decided;
  }): Promise<RoleOutcome>;
  /** Their keys there pass to the workspace's first owner, and their open invitations end. */
  removeMember(removal: Removal): Promise<RoleOutcome>;

  /** False when a role has changed that it was decided by. */
  insertInvitation(record: InvitationRecord, given: Decided): Promise<boolean>;
  /** Newest first. */
  invitations(workspaceId: string, page: PageRequest): Promise<InvitationRecord[]>;
  /** Whether this call ended it: false when there is no such open invitation. */
  revokeInvitation(workspaceId: string, invitationId: string, at: number): Promise<boolean>;
  /** Uses it up and adds the member; `unknown` when it is not good at `at`, and it stays good for a `member`. */
  acceptInvitation(accepted: {
    digest: string;
    userId: string;
    at: number;
  }): Promise<{ workspaceId: string; role: WorkspaceRole } | 'unknown' | 'member'>;
}
