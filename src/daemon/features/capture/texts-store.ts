import type { TextStore } from '../../../shared/constants/text-stores.ts';
import type { NewEvent } from '../events/index.ts';

/** Texts of one ended call. */
export interface StoredTexts {
  id: string;
  requestId: string;
}

/** Which texts of a workspace to list, in the order of their ids; those after the last one of the page before. */
export interface TextsPage {
  workspaceId: string;
  after: string;
  limit: number;
}

/** An end user whose name is replaced in the records of a workspace. */
export interface UserToForget {
  workspaceId: string;
  user: string;
  /** A label that no call has. */
  pseudonym: string;
  /** Is stored with the number of calls as `calls`. */
  event: NewEvent;
}

export interface ForgottenUser {
  calls: number;
  rejections: number;
  /** The ids of budgets that count the calls of the pseudonym now. */
  budgets: string[];
}

/** The texts of calls that features store in the database. Each method is one transaction. */
export interface TextsStore {
  /** Of ended calls. Keys of idempotency are listed of all workspaces, as they know none. */
  page(store: TextStore, page: TextsPage): Promise<StoredTexts[]>;
  /** Overwrites what it deletes, and returns how many there were. A thread of which nothing is left is deleted, too. */
  remove(store: TextStore, workspaceId: string, ids: readonly string[]): Promise<number>;
  /**
   * Replaces the name of an end user in calls, rejections, usage, tags, conversations, events and budgets. Later calls for the same
   * user have its name again.
   */
  forgetUser(forgotten: UserToForget): Promise<ForgottenUser>;
  /** How many calls run whose texts are to be stored. */
  running(
    workspaceId: string,
    selected: { keyId: string | undefined; user: string | undefined },
  ): Promise<number>;
}
