/** A committed change of what daemons keep in memory: each topic names what has to be read again, or ends. */
export type Change =
  /** A key, login, access token or agent was revoked. */
  | { topic: 'revocation'; id: string }
  /** The limits or defaults of a key. */
  | { topic: 'key'; workspaceId: string; keyId: string }
  /** The role of a member. */
  | { topic: 'role'; workspaceId: string; userId: string }
  /** A user is no longer a member. */
  | { topic: 'departure'; workspaceId: string; userId: string }
  /** The settings of a workspace. */
  | { topic: 'workspace'; workspaceId: string }
  | { topic: 'budget'; workspaceId: string; id: string }
  | { topic: 'peer'; workspaceId: string; name: string }
  /** A workspace's own key for a provider; the name is empty for the one without. */
  | { topic: 'provider_key'; workspaceId: string; provider: string; name: string }
  /** A key of the host for a provider, sealed in the vault. */
  | { topic: 'host_key' }
  /** The master key of the vault. */
  | { topic: 'vault' }
  /** The paywalls of all users, which have one revision. */
  | { topic: 'paywalls' }
  /** The temperatures of typed decisions. */
  | { topic: 'calibrations' }
  /** When autopilots are to run. */
  | { topic: 'schedules' }
  /** Texts of the calls that match were deleted; members that are not set select all. */
  | {
      topic: 'content';
      workspaceId: string;
      keyId: string | undefined;
      user: string | undefined;
      before: number | undefined;
      q: string | undefined;
      /** The records of the calls have that user; their content may have the name that was replaced. */
      isForgotten?: true;
    }
  /** A background response or a run of a thread is to stop, whichever daemon runs it. */
  | { topic: 'stop'; id: string }
  /** Other daemons have committed something: what waits for rows reads them again. Never stored. */
  | { topic: 'written' };

export type Topic = Change['topic'];
export type ChangeOf<T extends Topic> = Extract<Change, { topic: T }>;

/** Where features learn of changes, whichever daemon makes them. Whatever keeps stored data in memory subscribes to it. */
export interface Changes {
  /**
   * Calls `apply` with each change once it is committed. On the daemon that makes the change, this is before the write
   * resolves, and the write rejects if `apply` fails.
   */
  subscribe<T extends Topic>(topic: T, apply: (change: ChangeOf<T>) => unknown): void;

  /**
   * Undefined while what is kept in memory may answer, as it has every change that is older than a second. Otherwise resolves
   * once it has; rejects with ApiError `unavailable` if that takes a second.
   */
  current(): Promise<void> | undefined;

  /** Announces changes that no write makes to all daemons. Resolves once they are stored, and applied on this one. */
  announce(changes: readonly Change[]): Promise<void>;
}
