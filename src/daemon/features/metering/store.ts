import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import type { Cost, NanoUsd, TokenPrices, Tokens } from '../../../shared/money/money.ts';
import type { QueueWait } from '../concurrency/index.ts';
import type { SlotAnswer } from '../idempotency/index.ts';
import type { Attempt } from '../routing/index.ts';

/** How a call ended. `interrupted`: the daemon died while it ran. */
export type CallStatus = 'completed' | 'incomplete' | 'failed' | 'canceled' | 'interrupted';

/** Money reserved for a started call: the most it can cost. */
export interface HoldRecord {
  requestId: string;
  workspaceId: string;
  /** Null for a login. */
  keyId: string | null;
  /** What else the call counts against: the autopilot that makes it. Its spending is that of a key with this id. */
  budget?: string;
  endpoint: string;
  model: string;
  streamed: boolean;
  ownKey: boolean;
  amount: NanoUsd;
  /** Estimate of the prompt, charged if the daemon dies before anything else is known. */
  promptEstimate: Tokens;
  promptCost: NanoUsd;
  createdAt: number;
  labels: CallLabels;
  /** What an agent's free call reserves of the free tier; it holds nothing else. */
  free?: NanoUsd;
  /** The routes that may answer it, if its workspace has budgets of models or providers. */
  routes?: readonly HeldRoute[];
}

/** A route of a call, and the most that the call can cost on it. */
export type HeldRoute = Readonly<{ model: string; provider: string; amount: NanoUsd }>;

/** The stages of a call, in milliseconds since it arrived, and its planned routes. */
export interface CallTrace {
  /** Routes were planned and money was reserved; no provider is called before. */
  admittedMs: number;
  /** The hold was on disk; null if it was written together with the settlement. */
  heldMs: number | null;
  /** The start of each attempt. */
  startedMs: number[];
  /** Null without an answer. */
  finishReason: string | null;
  /** The provider's word for it, where that says more. */
  providerReason?: string;
  /** The model that the provider says has answered, if it was not asked for this one. */
  servedModel?: string;
  /** The best routes of the plan, best first. */
  routes: { provider: string; model: string }[];
  /** What the provider's format could not express; absent if there was nothing. */
  dropped?: readonly { param: string; type?: string }[];
  /** Where its content was to be kept; absent if nowhere. */
  captured?: 'memory' | 'disk';
  /** What guardrails did; absent if it had to pass none. */
  hooks?: readonly Readonly<HookRun>[];
  /** How it waited until limits of concurrent calls let it go on; absent if it did not. */
  waits?: readonly QueueWait[];
  /** Set if the client's own login at the provider paid: what the call would have cost, null if its price is unknown. */
  subscription?: { listCost: NanoUsd | null };
}

/** How a hook, or the redaction, decided on a call. */
export type HookRun = {
  name: string;
  on: 'request' | 'answer';
  result: 'passed' | 'changed' | 'refused' | 'failed';
  /** Of all questions about an answer. */
  ms: number;
  /** The sentence of a refusal, why the hook failed, or how much was replaced. */
  message?: string;
};

/** The record of a finished call. Times in milliseconds since 1970, durations in milliseconds. */
export interface UsageRecord {
  requestId: string;
  responseId: string | null;
  workspaceId: string;
  keyId: string | null;
  /** As in the hold. */
  budget?: string;
  endpoint: string;
  model: string;
  provider: string | null;
  streamed: boolean;
  ownKey: boolean;
  status: CallStatus;
  errorCode: string | null;
  tokens: Tokens;
  /** Whether `tokens` are the provider's count rather than an estimate. */
  tokensReported: boolean;
  /** Null when the price is unknown. */
  cost: Cost | null;
  /** The prices that were applied, without the margin; null when they are unknown or nothing was charged by tokens. */
  prices: TokenPrices | null;
  charged: NanoUsd;
  attempts: Attempt[];
  ttftMs: number | null;
  totalMs: number;
  createdAt: number;
  completedAt: number;
  labels: CallLabels;
  /** Whether the response cache had the answer; null for a call that did not use it. */
  cache: 'hit' | 'miss' | null;
  /** The status of the response; null if the client got none, or none is known. */
  httpStatus: number | null;
  /** Undefined if the daemon died during the call. */
  trace?: CallTrace;
}

/** Entries of wallets, in millisatoshis. */
type WalletEntryKind =
  | 'deposit'
  | 'receipt'
  | 'payment'
  | 'payment_hold'
  | 'payment_fee'
  | 'payment_return'
  | 'payment_excess';

/** Moves `amount` > 0 from one account to another; an account is created by its first entry. */
export interface LedgerEntry {
  kind: 'provider_cost' | 'margin' | 'grant' | 'top_up' | WalletEntryKind;
  debit: string;
  credit: string;
  amount: NanoUsd;
}

/** Ends a hold and records the result, in one transaction. The call is also the event of its settlement. */
export interface Settlement {
  usage: UsageRecord;
  entries: LedgerEntry[];
  /** How the public totals are split. */
  caller: 'key' | 'agent';
  tier: 'paid' | 'free';
  /** Stored for the call's Idempotency-Key in the same transaction. */
  answer?: SlotAnswer;
  /** The hold, if it was written: what it releases. Without it, what members share is read again. */
  held?: Pick<HoldRecord, 'amount' | 'free' | 'routes'>;
}

/** A hold that outlived its process, with its last stored progress. */
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
  week: NanoUsd;
  month: NanoUsd;
}

/** Selects finished calls: completed at or after `since` and before `until`. */
export interface UsageFilter {
  workspaceId: string;
  /** Undefined for every key and login. */
  keyId: string | undefined;
  model: string | undefined;
  since: number;
  until: number;
  /** One or two; with a label (client, user, tag, error) the other can only be the day, and there are no other filters. */
  groupBy: readonly UsageGrouping[];
  /** Whose days they are. */
  timeZone: string;
  /** Whether rejected calls of unknown callers count, too. */
  unknownCallers?: boolean;
}

/** What usage is grouped by. */
export type UsageGrouping =
  | 'day'
  | 'model'
  | 'key'
  | 'provider'
  | 'status'
  | 'client'
  | 'user'
  | 'tag'
  | 'error';

/** Sums over the calls of one group. */
export interface UsageGroup {
  /** In the order of `groupBy`: a day, a name, null for logins and calls without; `other` for labels beyond the first 10,000 of a day. */
  groups: (string | null)[];
  /** Calls that a provider was to answer. */
  requests: number;
  /** Calls that got an error before a provider was asked, which are in no other sum. */
  rejected: number;
  /** The number of requests with unknown cost, which `cost` leaves out. */
  unpriced: number;
  tokens: Tokens;
  cost: Cost;
  charged: NanoUsd;
}

/** Selects a page of the groups of a summary. */
export interface UsagePageFilter extends UsageFilter {
  /** The group before the page; undefined for the first page. */
  after: UsageGroup['groups'] | undefined;
  limit: number;
}

export interface UsagePage {
  /** In the order of `summarize`. */
  groups: UsageGroup[];
  hasMore: boolean;
  /** The sums of all calls, each of which counts once. */
  total: Omit<UsageGroup, 'groups'>;
}

/** Selects the calls of a chart. */
export interface SeriesFilter {
  workspaceId: string;
  keyId: string | undefined;
  model: string | undefined;
  provider: string | undefined;
  status: CallStatus | 'rejected' | undefined;
  /** Whether rejected calls of unknown callers count, too. */
  unknownCallers?: boolean;
  /** In order, without gaps. */
  buckets: readonly { start: number; end: number }[];
  /** One series for all calls if undefined; with `error` there are no filters, and only calls with an error code are counted. */
  groupBy: 'model' | 'provider' | 'status' | 'key' | 'error' | undefined;
  /** The groups that cost the most have a series each; all others share one. */
  top: number;
}

export interface SeriesPoint extends Omit<UsageGroup, 'groups'> {
  /** Requests that failed or were interrupted. */
  errors: number;
}

export interface Series {
  group: string | null;
  /** Of all groups that have no series of their own. */
  isOther: boolean;
  /** One per bucket. */
  points: SeriesPoint[];
}

/** Selects the calls whose latency is read. */
export interface LatencyFilter {
  workspaceId: string;
  model: string | undefined;
  provider: string | undefined;
  /** In order, without gaps, an hour long or more. */
  buckets: readonly { start: number; end: number }[];
  groupBy: 'model' | 'provider' | undefined;
}

/** The number of calls by ⌊4·log₂⌋ of milliseconds, or of tokens per second. */
export type LatencyHistogram = Map<number, number>;

/** One histogram per bucket of time. */
export interface LatencyGroup {
  group: string | null;
  firstToken: LatencyHistogram[];
  total: LatencyHistogram[];
  tokensPerSecond: LatencyHistogram[];
  /** Until the first provider was asked. */
  overhead: LatencyHistogram[];
}

/** Each method is one transaction, durable when its promise resolves, even after a power failure. */
export interface MeteringStore {
  hold(record: HoldRecord): Promise<void>;
  /** Stores the cost of a running call so far, in case the daemon dies. */
  progress(progress: { requestId: string; provider: string; tokens: Tokens; cost: NanoUsd }): Promise<void>;
  /** Resolves to the sequence of its event. Rejects if the request is already settled. */
  settle(settlement: Settlement): Promise<number>;
  usage(requestId: string): Promise<UsageRecord | undefined>;
  /** The charges of a key and its descendants; day, week and month are those of `at` in UTC. */
  spendOfKey(keyId: string, at: number): Promise<Spend>;
  served(): Promise<ServedDay[]>;
  /** Ordered by group, ascending, null last; without empty groups, and without rejected calls. */
  summarize(filter: UsageFilter): Promise<UsageGroup[]>;
  /** Undefined if `after` is no group. */
  usagePage(filter: UsagePageFilter): Promise<UsagePage | undefined>;
  /** The dearest first, then the others. */
  series(filter: SeriesFilter): Promise<Series[]>;
  /** Answered calls; times are rounded to hours, beyond eight days to UTC days. */
  latency(filter: LatencyFilter): Promise<LatencyGroup[]>;
  /** The unsettled holds of a daemon, oldest first. */
  leftHolds(daemon: number): Promise<LeftHold[]>;
}
