import type { AuthScheme, PaywallStatus } from '../../../shared/contract/paywalls.ts';

/** The terms of a payment. */
export interface TokenTerms {
  timeoutSeconds: number;
  /** Null for any number. */
  maxUses: number | null;
  capabilities: string[];
  constraints: Record<string, string>;
}

export interface RateLimit {
  requests: number;
  perSeconds: number;
  burst: number;
}

/** A stored paywall. Times in milliseconds since 1970. */
export interface PaywallRecord {
  id: string;
  /** The user who is paid. */
  ownerId: string;
  /** The number of that user. */
  owner: number;
  name: string;
  status: PaywallStatus;
  /** In lower case; null for any. */
  host: string | null;
  pathPrefix: string;
  /** Empty for any. */
  methods: string[];
  upstream: { url: string; rewritePrefix: string | null; timeoutMs: number };
  /** The headers added to requests, as sealed JSON, since they may be credentials; null for none. */
  headers: string | null;
  /** Whether the upstream may have a private address: only the owner of the host may choose one. */
  mayBePrivate: boolean;
  priceSats: number;
  authScheme: AuthScheme;
  token: TokenTerms;
  freePaths: string[];
  freeRequestsPerDay: number;
  rateLimit: RateLimit | null;
  /** The origins of web pages that may send requests and read responses; `*` for any. */
  allowedOrigins: string[];
  /** The revision of the last change of any paywall when this one was changed. */
  revision: number;
  createdAt: number;
  updatedAt: number;
  deletedAt: number | null;
  challenges: number;
  paid: number;
  /** Millisatoshis. */
  revenue: number;
}

/** A paywall before its revision and statistics are known. */
export type PaywallTerms = Omit<PaywallRecord, 'revision' | 'challenges' | 'paid' | 'revenue'>;

/** What a payment allows, for the upstream to check. */
export type PaidRights = Pick<TokenTerms, 'capabilities' | 'constraints'>;

/** The request that a `Payment` challenge is for. */
export interface ChargedRequest {
  method: string;
  /** Normalized path and query. */
  target: string;
  /** The SHA-256 of the body, in hexadecimal. */
  digest: string;
}

/** A payment that was asked for. */
export interface ChallengeRecord {
  /** The id of its token. */
  id: string;
  paywallId: string;
  invoiceId: string;
  /** In hexadecimal. */
  paymentHash: string;
  createdAt: number;
  /** When its token ends, paid or not. */
  expiresAt: number;
  uses: number;
  /** The id of its `Payment` challenge, and the request that it is for; null if only L402 was offered. */
  paymentId: string | null;
  request: ChargedRequest | null;
  /** What its `Payment` credential allows; null without one, and for challenges from before this was kept. */
  rights: PaidRights | null;
  /** The latest time at which it is known to have been checked: what had expired then stays expired. Null if there is none. */
  seenAt: number | null;
}

export type NewChallenge = Omit<ChallengeRecord, 'uses' | 'seenAt'>;

/** A payment that was asked for by the `Payment` scheme, and its invoice. */
export interface ChargeRecord extends ChallengeRecord {
  request: ChargedRequest;
  /** BOLT 11. */
  invoice: string;
  /** Millisatoshis. */
  amount: number;
  invoiceExpiresAt: number;
}

/** Each method is one transaction. */
export interface PaywallsStore {
  /** Stores a paywall under the first free name, with the next revision. */
  insert(
    terms: Omit<PaywallTerms, 'name'>,
    names: readonly string[],
  ): Promise<PaywallRecord | 'name-taken' | 'route-taken'>;
  /** By id or, unless it is deleted, by name, within one user's paywalls. */
  find(owner: number, reference: string): Promise<PaywallRecord | undefined>;
  /** Newest first; without a status all but deleted ones. */
  list(
    owner: number,
    page: { limit: number; before: string | undefined; status: PaywallStatus | undefined },
  ): Promise<PaywallRecord[]>;
  /** All that are not deleted, of all users. */
  serving(): Promise<{ revision: number; paywalls: PaywallRecord[] }>;
  /** Stores a change with the next revision; `changed` if another change came first. */
  replace(before: PaywallRecord, after: PaywallTerms): Promise<PaywallRecord | 'changed' | 'route-taken'>;

  /** Stores and counts a challenge, unless the paywall was deleted meanwhile. */
  addChallenge(challenge: NewChallenge): Promise<boolean>;
  challenge(id: string): Promise<ChallengeRecord | undefined>;
  /** By the id of its `Payment` challenge. */
  charge(paymentId: string): Promise<ChargeRecord | undefined>;
  /** Counts the one request that a `Payment` credential pays for. Returns false without a change if it is not the first use. */
  redeemCharge(id: string): Promise<boolean>;
  /** Counts a use of a token. Returns false without a change at `maxUses`. */
  use(use: { id: string; maxUses: number }): Promise<boolean>;
  /** Takes back a use whose request never reached the upstream. */
  giveBack(id: string): Promise<void>;
  /** Keeps the latest time at which a challenge was found to have expired. */
  noteTime(note: { id: string; at: number }): Promise<void>;
  /** Counts a free request of a client. Returns false without a change at the limit. */
  takeFree(use: { paywallId: string; client: string; day: string; limit: number }): Promise<boolean>;
  /**
   * Deletes free requests of earlier days, and what was never paid of challenges that expired before a time, their
   * invoices included: up to `limit` of each, so that calls need not wait long. Returns how many rows were deleted.
   */
  prune(bounds: { expiredBefore: number; day: string; limit: number }): Promise<number>;
}
