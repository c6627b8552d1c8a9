/** A user in the site API. Times in milliseconds since 1970. */
export interface PersonRecord {
  /** `usr_…`, which only /v1 exposes. */
  userId: string;
  /** The id in the site API. */
  number: number;
  handle: string;
  name: string;
  /** The URL of a picture; may be empty. */
  avatar: string;
  email: string | null;
  createdAt: number;
  updatedAt: number;
}

export type ProfileChanges = Partial<Pick<PersonRecord, 'name' | 'email' | 'avatar' | 'handle'>>;

/** The data of a deleted user that must be dropped from memory. */
export interface Removed {
  /** Ids of the revoked logins, tokens and keys. */
  credentials: string[];
  /** Ids of their workspaces. */
  workspaces: string[];
}

/** Why a person cannot be removed. */
export type Irremovable = 'host-owner' | { lastOwnerOf: string };

/** Finds no one who is deleted. Each method is one transaction. */
export interface ProfileStore {
  byUserId(userId: string): Promise<PersonRecord | undefined>;
  byNumber(number: number): Promise<PersonRecord | undefined>;
  /** In lower case. */
  byHandle(handle: string): Promise<PersonRecord | undefined>;
  /** Returns the field that belongs to another user, if any; nothing is changed then. */
  change(userId: string, changes: ProfileChanges, at: number): Promise<'email' | 'handle' | undefined>;
  /** Revokes all credentials of the person and erases their data. */
  remove(userId: string, at: number): Promise<Removed | Irremovable>;
}
