/** A person. `number` is the integer id of the site API; `id` is the one of /v1. */
export interface UserRecord {
  id: string;
  number: number;
  handle: string;
  name: string;
  createdAt: number;
}

export interface WorkspaceRecord {
  id: string;
  slug: string;
  name: string;
  createdAt: number;
  /** Whether plain members may issue API keys; not at first. */
  membersMayIssueKeys: boolean;
}

export type NewWorkspace = Omit<WorkspaceRecord, 'membersMayIssueKeys'>;

export type WorkspaceRole = 'owner' | 'admin' | 'member';

/** A login key as it is kept. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** SHA-256 of the whole secret, lower-case hex. */
  digest: string;
  name: string;
  createdAt: number;
  revokedAt: number | null;
}

export interface WorkspacesStore {
  /** The first start: owner, workspace and membership, all at once. The site API's number is dealt out by the store. */
  createOwner(first: { user: Omit<UserRecord, 'number'>; workspace: NewWorkspace }): Promise<void>;
  /** The oldest user, who owns a local daemon. */
  owner(): Promise<{ user: UserRecord; workspace: WorkspaceRecord } | undefined>;
  /** By id or slug. */
  workspace(reference: string): Promise<WorkspaceRecord | undefined>;
  /** The workspace that `me` names for this user: the first one joined. */
  homeOf(userId: string): Promise<WorkspaceRecord | undefined>;
  role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined>;
  insertLogin(record: LoginRecord): Promise<void>;
  /** Inserts it and revokes, at its `createdAt`, the user's other logins of the same name: at once. */
  replaceLogin(record: LoginRecord): Promise<void>;
  loginByDigest(digest: string): Promise<LoginRecord | undefined>;
  loginById(id: string): Promise<LoginRecord | undefined>;
}
