/** A person as the site API knows them. Times in milliseconds since 1970. */
export interface PersonRecord {
  /** `usr_…`: it never leaves /v1. */
  userId: string;
  /** The id that the site API shows. */
  number: number;
  handle: string;
  name: string;
  /** The address of a picture; may be empty. */
  avatar: string;
  email: string | null;
  createdAt: number;
  updatedAt: number;
}

export type ProfileChanges = Partial<Pick<PersonRecord, 'name' | 'email' | 'avatar' | 'handle'>>;

/** What ended with a person, to be told to whoever keeps it in memory. */
export interface Removed {
  /** Ids of logins, tokens and keys that are good no more. */
  credentials: string[];
  /** Ids of the workspaces that they belonged to. */
  workspaces: string[];
}

/** Why a person cannot be removed. */
export type Irremovable = 'host-owner' | { lastOwnerOf: string };

/** Of those who are deleted none is found. Each method is one transaction. */
export interface ProfileStore {
  byUserId(userId: string): Promise<PersonRecord | undefined>;
  byNumber(number: number): Promise<PersonRecord | undefined>;
  /** In lower case. */
  byHandle(handle: string): Promise<PersonRecord | undefined>;
  /** Which of the changes is taken by somebody else, if one is; nothing is changed then. */
  change(userId: string, changes: ProfileChanges, at: number): Promise<'email' | 'handle' | undefined>;
  /** Ends everything that lets the person in, and forgets who it was. */
  remove(userId: string, at: number): Promise<Removed | Irremovable>;
}
