import type { TextStore } from '../../../shared/constants/text-stores.ts';

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

/** The texts of calls that features store in the database. Each method is one transaction. */
export interface TextsStore {
  /** Of ended calls. Keys of idempotency are listed of all workspaces, as they know none. */
  page(store: TextStore, page: TextsPage): Promise<StoredTexts[]>;
  /** Overwrites what it deletes, and returns how many there were. A thread of which nothing is left is deleted, too. */
  remove(store: TextStore, workspaceId: string, ids: readonly string[]): Promise<number>;
  /** How many calls run whose texts are to be stored. */
  running(
    workspaceId: string,
    selected: { keyId: string | undefined; user: string | undefined },
  ): Promise<number>;
}
