import type { Cost, NanoUsd, Tokens } from '../../../shared/money.ts';
import type { NewEvent } from '../events/index.ts';
import type { PlacedAnswer } from '../idempotency/index.ts';
import type { Attempt } from '../routing/index.ts';

/** How a call ended. `interrupted`: the daemon died while it ran. */
export type CallStatus = 'completed' | 'incomplete' | 'failed' | 'canceled' | 'interrupted';

/** Money set aside for a call that has begun: the most it can cost. */
export interface HoldRecord {
  requestId: string;
  workspaceId: string;
  /** Null when a login, not a key, is calling. */
  keyId: string | null;
  endpoint: string;
  model: string;
  streamed: boolean;
  ownKey: boolean;
  amount: NanoUsd;
  /** The estimate of the prompt alone: what is charged when the daemon dies before anything else is known. */
  promptEstimate: Tokens;
  promptCost: NanoUsd;
  createdAt: number;
  /** Whether the workspace pays in advance: then the hold is written only while its credit lasts. */
  isPrepaid?: true;
}

/** When a call went through what, in milliseconds since it came, and the routes that it had. */
export interface CallTrace {
  /** Its routes were planned and its money set aside: nobody was asked before. */
  admittedMs: number;
  /** That was on disk; null where it was written together with the settlement. */
  heldMs: number | null;
  /** Each attempt began, in their order. */
  startedMs: number[];
  /** What the provider said of the end; null when nobody answered. */
  finishReason: string | null;
  /** The best ones of the plan, best first. */
  routes: { provider: string; model: string }[];
}

/** All that is kept of a finished call. Times in milliseconds since 1970, durations in milliseconds. */
export interface UsageRecord {
  requestId: string;
  responseId: string | null;
  workspaceId: string;
  keyId: string | null;
  endpoint: string;
  model: string;
  provider: string | null;
  streamed: boolean;
  ownKey: boolean;
  status: CallStatus;
  errorCode: string | null;
  tokens: Tokens;
  /** Whether `tokens` are the provider's own count; otherwise they are an estimate. */
  tokensReported: boolean;
  /** Null when the price is unknown. */
  cost: Cost | null;
  charged: NanoUsd;
  attempts: Attempt[];
  ttftMs: number | null;
  totalMs: number;
  createdAt: number;
  completedAt: number;
  /** Undefined where nobody could take it: the daemon died during the call. */
  trace?: CallTrace;
}

/** Moves `amount` > 0 from one account to another; accounts come into being with their first entry. */
export interface LedgerEntry {
  kind: 'provider_cost' | 'margin' | 'grant';
  debit: string;
  credit: string;
  amount: NanoUsd;
}

/** Ends a hold and writes what became of it, all at once or not at all. */
export interface Settlement {
  usage: UsageRecord;
  entries: LedgerEntry[];
  /** `agent`, `key` or `own_key`, and `paid` or `free`: how the public totals are split. */
  caller: 'key' | 'agent';
  tier: 'paid' | 'free';
  /** Written in the same transaction. */
  event: NewEvent;
  /** Kept for the call's Idempotency-Key in the same transaction. */
  answer?: PlacedAnswer;
  /** As of its hold. */
  isPrepaid?: true;
}

/** A hold that outlived its process, with the progress that was last written. */
export interface LeftHold extends HoldRecord {
  progressTokens: Tokens | null;
  progressCost: NanoUsd | null;
  provider: string | null;
}

/** Tokens served on one UTC day. */
export interface ServedDay {
  /** `2026-11-21` */
  day: string;
  caller: 'key' | 'agent';
  ownKey: boolean;
  tier: 'paid' | 'free';
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

export interface Spend {
  total: NanoUsd;
  day: NanoUsd;
  month: NanoUsd;
}

/** Which finished calls to sum up: completed at or after `since` and before `until`. */
export interface UsageFilter {
  workspaceId: string;
  /** Undefined: those of every key and login. */
  keyId: string | undefined;
  model: string | undefined;
  since: number;
  until: number;
  groupBy: 'day' | 'model' | 'key';
}

/** Sums over the calls of one UTC day, one model, or one key (`group` null: calls of a login). */
export interface UsageGroup {
  group: string | null;
  requests: number;
  /** Those among `requests` whose cost is null; the others make up `cost`. */
  unpriced: number;
  tokens: Tokens;
  cost: Cost;
  charged: NanoUsd;
}

/** Each method is one transaction; a promise that resolves means: on disk, also after a power cut. */
export interface MeteringStore {
  hold(record: HoldRecord): Promise<void>;
  /** Keeps what a running call has cost so far, for the case that the daemon dies. */
  progress(progress: { requestId: string; provider: string; tokens: Tokens; cost: NanoUsd }): Promise<void>;
  /** Resolves to the sequence of its event. Rejects when the request was settled before. */
  settle(settlement: Settlement): Promise<number>;
  usage(requestId: string): Promise<UsageRecord | undefined>;
  /** What a key and the keys that it issued were charged; day and month are the UTC ones of `at`. */
  spendOfKey(keyId: string, at: number): Promise<Spend>;
  served(): Promise<ServedDay[]>;
  /** Ordered by group, ascending; null last. Groups without calls are left out. */
  summarize(filter: UsageFilter): Promise<UsageGroup[]>;
  /** All holds that are not settled, oldest first. */
  leftHolds(): Promise<LeftHold[]>;
}
