import type { CaptureLevel } from '../../../shared/constants/capture-levels.ts';

/** A user. `number` is the id in the site API; `id` the one in /v1. */
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
  /** Whether plain members may issue API keys; false by default. */
  membersMayIssueKeys: boolean;
  /** The most of the content of its calls that is kept; null where the host decides. */
  capture: CaptureLevel | null;
}

export type NewWorkspace = Omit<WorkspaceRecord, 'membersMayIssueKeys' | 'capture'>;

export type WorkspaceRole = 'owner' | 'admin' | 'member';

/** A stored login key, without its secret. */
export interface LoginRecord {
  id: string;
  userId: string;
  /** SHA-256 of the whole secret, lowercase hex. */
  digest: string;
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
  revokedAt: number | null;
  kind: LoginKind;
  /** It ends after this time without use; null for one that does not. */
  idleMs: number | null;
}

/** Where a login is used: by commands, or on the page of the dashboard. */
export type LoginKind = 'command' | 'browser';

/** By default it is of commands, which do not end without use. */
export type NewLogin = Omit<LoginRecord, 'lastUsedAt' | 'kind' | 'idleMs'> &
  Partial<Pick<LoginRecord, 'kind' | 'idleMs'>>;

/** When a login ends if it is not used again; null for one that does not. */
export function loginExpiry({
  createdAt,
  lastUsedAt,
  idleMs,
}: Pick<LoginRecord, 'createdAt' | 'lastUsedAt' | 'idleMs'>): number | null {
  return idleMs === null ? null : (lastUsedAt ?? createdAt) + idleMs;
}

export interface WorkspacesStore {
  /** Creates owner, workspace and membership on the first start. The store assigns the site API's number. */
  createOwner(first: { user: Omit<UserRecord, 'number'>; workspace: NewWorkspace }): Promise<void>;
  /** The oldest user, who owns a local daemon. */
  owner(): Promise<{ user: UserRecord; workspace: WorkspaceRecord } | undefined>;
  /** By id or slug. */
  workspace(reference: string): Promise<WorkspaceRecord | undefined>;
  /** Of the workspaces that have decided it. */
  captureLevels(): Promise<{ workspaceId: string; capture: CaptureLevel }[]>;
  /** The workspace that `me` names: the first one that the user joined. */
  homeOf(userId: string): Promise<WorkspaceRecord | undefined>;
  role(workspaceId: string, userId: string): Promise<WorkspaceRole | undefined>;
  insertLogin(record: NewLogin): Promise<void>;
  /** Inserts it and revokes the user's other logins of the same name, at its `createdAt`. */
  replaceLogin(record: NewLogin): Promise<void>;
  loginByDigest(digest: string): Promise<LoginRecord | undefined>;
  loginById(id: string): Promise<LoginRecord | undefined>;
  /** Records times of last use; an older time than the stored one is ignored. */
  touchLogins(uses: { id: string; at: number }[]): Promise<void>;
}
