import type { AllowancesStore } from '../metering/index.ts';

/** An agent with its only key. Times in milliseconds since 1970. */
export interface AgentRecord {
  id: string;
  /** Its own workspace, which has no members. */
  workspaceId: string;
  name: string;
  /** SHA-256 of the whole secret, lowercase hex. */
  digest: string;
  hint: string;
  createdAt: number;
}

export interface SignUp {
  agent: AgentRecord;
  /** Of the agent's workspace. */
  slug: string;
  challenge: { text: string; expiresAt: number };
  /** In UTC: `2026-11-21`. */
  day: string;
  /** Where the sign-up came from, and how many a day are accepted from there. */
  origins: readonly { origin: string; max: number }[];
}

/** Each method is one transaction. */
export interface AgentsStore extends AllowancesStore {
  /** Returns without a change `used` if the challenge was used before, `limit` if an origin has no sign-ups left. */
  signUp(signUp: SignUp): Promise<'created' | 'used' | 'limit'>;
  byDigest(digest: string): Promise<AgentRecord | undefined>;
  find(id: string): Promise<AgentRecord | undefined>;
}
