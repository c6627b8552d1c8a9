import type { PersonRecord } from '../profile/index.ts';

/** A shout with its author. Times in milliseconds since 1970. */
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
  /** Returns the id. */
  insert(shout: { author: number; body: string; zone: string; at: number }): Promise<number>;
  find(id: number): Promise<ShoutRecord | undefined>;
  /** Newest first, with ids below `before`, created at or after `since`. */
  list(
    of: { zone: string | undefined; since: number | undefined },
    page: { limit: number; before: number | undefined },
  ): Promise<ShoutRecord[]>;
  /** Oldest first, with ids above `after`. */
  after(zone: string | undefined, page: { limit: number; after: number }): Promise<ShoutRecord[]>;
  /** False if there is no such shout by this author. */
  remove(id: number, author: number): Promise<boolean>;
  /** The number of shouts per zone since a time, highest first. */
  zones(since: number, limit: number): Promise<{ zone: string; count: number }[]>;
  /** The highest id, 0 before the first. */
  last(): Promise<number>;
}
