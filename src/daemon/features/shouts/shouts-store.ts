import type { PersonRecord } from '../profile/index.ts';

/** A shout as it is kept, with its author. Times in milliseconds since 1970. */
export interface ShoutRecord {
  id: number;
  body: string;
  /** In lower case. */
  zone: string;
  createdAt: number;
  updatedAt: number;
  author: Pick<PersonRecord, 'number' | 'handle' | 'name' | 'avatar'>;
}

/** Each method is one transaction. */
export interface ShoutsStore {
  /** The id that it got. */
  insert(shout: { author: number; body: string; zone: string; at: number }): Promise<number>;
  find(id: number): Promise<ShoutRecord | undefined>;
  /** Newest first, with an id below `before`, from the time `since` on. */
  list(
    of: { zone: string | undefined; since: number | undefined },
    page: { limit: number; before: number | undefined },
  ): Promise<ShoutRecord[]>;
  /** Oldest first, with an id above `after`. */
  after(zone: string | undefined, page: { limit: number; after: number }): Promise<ShoutRecord[]>;
  /** Whether there was such a one of this author. */
  remove(id: number, author: number): Promise<boolean>;
  /** How many shouts zones got since a time, the most first. */
  zones(since: number, limit: number): Promise<{ zone: string; count: number }[]>;
  /** The highest id, 0 before the first. */
  last(): Promise<number>;
}
