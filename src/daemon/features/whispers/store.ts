import type { PersonRecord } from '../profile/index.ts';

/** The public facts of a person. */
export type PersonShown = Pick<PersonRecord, 'number' | 'handle' | 'name' | 'avatar'>;

/** A whisper with its sender and recipient. Times in milliseconds since 1970. */
export interface WhisperRecord {
  id: number;
  body: string;
  createdAt: number;
  updatedAt: number;
  readAt: number | null;
  sender: PersonShown;
  recipient: PersonShown;
}

/** Selects whispers: all of `person`, or only those with `peer`, by number. */
export interface WhispersOf {
  person: number;
  peer?: number | undefined;
}

/** Each method is one transaction. */
export interface WhispersStore {
  /** Returns the id. */
  insert(whisper: { sender: number; recipient: number; body: string; at: number }): Promise<number>;
  find(id: number): Promise<WhisperRecord | undefined>;
  /** Newest first, with ids below `before`. */
  list(of: WhispersOf, page: { limit: number; before: number | undefined }): Promise<WhisperRecord[]>;
  /** Oldest first, with ids above `after`. */
  after(person: number, page: { limit: number; after: number }): Promise<WhisperRecord[]>;
  /** One entry per peer, latest first: the last whisper, and the number of unread ones from the peer. */
  threads(
    person: number,
    page: { limit: number; before: number | undefined },
  ): Promise<{ last: WhisperRecord; unread: number }[]>;
  /** False if it was read already. */
  markRead(id: number, at: number): Promise<boolean>;
  /** Returns the ids of those that were unread. */
  markAllRead(of: WhispersOf, at: number): Promise<number[]>;
  /** The highest id, 0 before the first. */
  last(): Promise<number>;
}
