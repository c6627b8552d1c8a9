import type { SealedSecret } from '../vault/index.ts';

/** A workspace's settings for a peer. */
export interface PeerSettings {
  workspaceId: string;
  name: string;
  /** Without `/v1` and without a trailing slash. */
  url: string;
  /** The first 12 hex digits of the key's SHA-256; null without a key. */
  keyFingerprint: string | null;
  /** The models it may be asked for; null for all. */
  allowedModels: string[] | null;
  maxInFlight: number;
  enabled: boolean;
  insecureHttp: boolean;
  /** Whether its address may be in a private network, as the owner of the host chose it. */
  mayBePrivate: boolean;
  addedAt: number;
  updatedAt: number;
}

/** Counts of a peer's calls. */
export interface PeerCounts {
  answered: number;
  failed: number;
  /** Answers that were compared with those of another source. */
  compared: number;
  /** Of those, how many were the same. */
  agreed: number;
}

/** How a peer is, as the daemon that stored it last knows it. */
export interface PeerHealth {
  /** Moving average in milliseconds; null before the first answer. */
  latencyMs: number | null;
  lastSeenAt: number | null;
  /** How often it was benched since its last good answer: each time for longer. */
  benches: number;
  benchedUntil: number | null;
  /** Why its last call failed; null after a good one. */
  reason: string | null;
}

/** The health of a peer, which is kept across restarts. */
export type PeerRecordedHealth = PeerHealth & PeerCounts;

/** The health of a peer, and what is added to its counts. */
export interface PeerHealthChange {
  health: PeerHealth;
  added: PeerCounts;
}

export type PeerRecord = PeerSettings & PeerRecordedHealth;

/** One call to a peer: never the questions or answers. */
export interface PeerAttemptRecord {
  workspaceId: string;
  peer: string;
  requestId: string;
  outcome: string;
  /** The HTTP status; null without an answer. */
  code: number | null;
  /** Whether it was asked because another peer was slow. */
  hedged: boolean;
  ms: number;
  at: number;
}

/** What happens to a stored key: it stays, is removed, or is replaced. */
export type KeyChange = 'keep' | 'remove' | SealedSecret;

/** Times in milliseconds since 1970. Each method is one transaction. */
export interface PeersStore {
  /** All of the host, ordered by workspace and name. */
  all(): Promise<PeerRecord[]>;
  find(workspaceId: string, name: string): Promise<PeerRecord | undefined>;
  /**
   * Adds a peer, or changes the settings of one, which keeps `addedAt` and, if the address stays, its health. Resolves to
   * `full` without a change if the workspace has `max` others, to `outdated` if the secret is not the next version or was
   * sealed with an outdated master key, or a key to keep is not there.
   */
  put(
    settings: PeerSettings,
    options: { key: KeyChange; max: number },
  ): Promise<PeerRecord | 'full' | 'outdated'>;
  /** Removes it with its key. Resolves to whether there was one. */
  remove(workspaceId: string, name: string): Promise<boolean>;
  /**
   * Records a call and what it changed about the peer, which may have been removed meanwhile, and deletes all but the
   * newest `kept` calls.
   */
  attempted(attempt: PeerAttemptRecord, change: PeerHealthChange, kept: number): Promise<void>;
  /** Records what is known about a peer, if it still exists. */
  saveHealth(of: Pick<PeerSettings, 'workspaceId' | 'name'>, change: PeerHealthChange): Promise<void>;
  /** Newest first. */
  attempts(
    workspaceId: string,
    page: { peer: string | undefined; limit: number },
  ): Promise<PeerAttemptRecord[]>;
}
