import type { PersonRecord } from '../profile/index.ts';

/** Somebody as others see them. */
export type PersonShown = Pick<PersonRecord, 'number' | 'handle' | 'name' | 'avatar'>;

/** A whisper as it is kept, with the people it names. Times in milliseconds since 1970. */
export interface WhisperRecord {
  id: number;
  body: string;
  createdAt: number;
  updatedAt: number;
  readAt: number | null;
  sender: PersonShown;
  recipient: PersonShown;
}

/** Whose whispers, by number: all of `person`, or those with `peer` alone. */
export interface WhispersOf {
  person: number;
  peer?: number | undefined;
}

/** Each method is one transaction. */
export interface WhispersStore {
  /** The id that it got. */
  insert(whisper: { sender: number; recipient: number; body: string; at: number }): Promise<number>;
  find(id: number): Promise<WhisperRecord | undefined>;
  /** Newest first, with an id below `before`. */
  list(of: WhispersOf, page: { limit: number; before: number | undefined }): Promise<WhisperRecord[]>;
  /** Oldest first, with an id above `after`. */
  after(person: number, page: { limit: number; after: number }): Promise<WhisperRecord[]>;
  /** A line a peer: the last whisper and how many from them are unread; the latest first. */
  threads(
    person: number,
    page: { limit: number; before: number | undefined },
  ): Promise<{ last: WhisperRecord; unread: number }[]>;
  /** Whether this call made it read. */
  markRead(id: number, at: number): Promise<boolean>;
  /** The ids of those that it made read. */
  markAllRead(of: WhispersOf, at: number): Promise<number[]>;
  /** The highest id, 0 before the first. */
  last(): Promise<number>;
}
