/** What a lease is part of: the spending cap of a key, a balance, a hard budget, or the requests per minute of a key. */
export type Subject = string;

/** What a member needs of a subject. */
export interface Wanted {
  subject: Subject;
  /** For the call that waits. */
  need: number;
  /** At least `need`: what calls of the next seconds may need, too. */
  want: number;
  /** What the member no longer holds of it: it hands in all that no call uses, so that no two members wait for each other. */
  handedIn: number;
}

/** What a subject's limit left when it did not suffice. */
export interface QuotaFacts {
  limit: number;
  spent: number;
  /** With members, for calls that run. */
  out: number;
  /** Milliseconds until requests leave the minute; undefined for money. */
  waitMs: number | undefined;
}

export interface Granted {
  subject: Subject;
  amount: number;
  /** Set if the need could not be met although all members gave back what they did not use; `amount` is then the rest. */
  shortage: QuotaFacts | undefined;
}

/** A call that started before its limit was read. */
export interface EarlierCall {
  requestId: string;
  /** When it was accepted, in milliseconds since 1970. */
  createdAt: number;
}

/** From a member to the authority, in order. Amounts are integers: nano-dollars, or requests. */
export type ToAuthority =
  | { kind: 'ask'; ask: number; wanted: readonly Wanted[] }
  /** Answers `count`: the calls that are not on disk, and what they hold or were charged, which the member has from now on. */
  | { kind: 'counted'; load: number; subject: Subject; calls: readonly EarlierCall[]; amount: number }
  /** Answers a recall, also with 0. */
  | { kind: 'recalled'; recall: number; subject: Subject; amount: number }
  | { kind: 'given'; subject: Subject; amount: number }
  /** A charge that is committed, or a request that was admitted. */
  | { kind: 'spent'; subject: Subject; amount: number };

/** From the authority to a member, in order. */
export type ToMember =
  | { kind: 'granted'; ask: number; granted: readonly Granted[] }
  /** A subject could not be read. */
  | { kind: 'failed'; ask: number; reason: string }
  | { kind: 'recall'; recall: number; subject: Subject }
  /** A limit is about to be read. */
  | { kind: 'count'; load: number; subject: Subject }
  /** A limit no longer exists. One that is set later by the same name begins with `count`. */
  | { kind: 'forget'; subject: Subject };
