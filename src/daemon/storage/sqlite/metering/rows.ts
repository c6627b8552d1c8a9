import type { SlotAnswer } from '../../../features/idempotency/store.ts';
import type { WatchedTotal } from '../../../features/metering/admission/admission-store.ts';
import type { AdmitRequest } from '../../../features/metering/rules/admit-request.ts';
import type { HoldRecord, MeteringStore, Settlement, UsageRecord } from '../../../features/metering/store.ts';
import { rowFormat } from '../engine/row-format.ts';
import { type CallDetails, callDetails, labelsText, pricesText, tagsText } from './call-details.ts';
import { type EntryRow, entryFormat } from './ledger/ledger-chain.ts';
import type { calls, holds } from './tables.ts';

type RowOf<Format> = Format extends { row(source: never): infer R } ? R : never;

export const holdFormat = rowFormat<typeof holds, HoldRecord>()({
  requestId: 'requestId',
  workspaceId: 'workspaceId',
  keyId: 'keyId',
  endpoint: 'endpoint',
  model: 'model',
  streamed: (hold) => Number(hold.streamed),
  ownKey: (hold) => Number(hold.ownKey),
  amount: 'amount',
  promptInput: (hold) => hold.promptEstimate.input,
  promptCachedInput: (hold) => hold.promptEstimate.cachedInput,
  promptCacheWrite: (hold) => hold.promptEstimate.cacheWrite,
  promptOutput: (hold) => hold.promptEstimate.output,
  promptReasoning: (hold) => hold.promptEstimate.reasoning,
  promptCost: 'promptCost',
  createdAt: 'createdAt',
  budget: (hold) => hold.budget ?? null,
  labels: (hold) => labelsText(hold.labels),
  free: (hold) => hold.free ?? null,
  routes: (hold) => (hold.routes ? JSON.stringify(hold.routes) : null),
});
export type HoldRow = RowOf<typeof holdFormat>;

type Progress = Parameters<MeteringStore['progress']>[0];

/** The columns of `holds` that progress updates; the request id, which selects the row, comes last. */
export const progressFormat = rowFormat<typeof holds, Progress>()({
  progressInput: ({ tokens }) => tokens.input,
  progressCachedInput: ({ tokens }) => tokens.cachedInput,
  progressCacheWrite: ({ tokens }) => tokens.cacheWrite,
  progressOutput: ({ tokens }) => tokens.output,
  progressReasoning: ({ tokens }) => tokens.reasoning,
  progressCost: 'cost',
  provider: 'provider',
  requestId: 'requestId',
});
export type ProgressRow = RowOf<typeof progressFormat>;

/** The columns of `calls` but for the number and the details, which the writer adds; it also replaces names by numbers. */
export const callFormat = rowFormat<typeof calls, UsageRecord>()({
  requestId: 'requestId',
  responseId: 'responseId',
  workspace: 'workspaceId',
  key: 'keyId',
  endpoint: 'endpoint',
  model: 'model',
  provider: 'provider',
  streamed: (call) => Number(call.streamed),
  ownKey: (call): 0 | 1 => (call.ownKey ? 1 : 0),
  status: 'status',
  errorCode: 'errorCode',
  input: ({ tokens }) => tokens.input,
  cachedInput: ({ tokens }) => tokens.cachedInput,
  cacheWrite: ({ tokens }) => tokens.cacheWrite,
  output: ({ tokens }) => tokens.output,
  reasoning: ({ tokens }) => tokens.reasoning,
  tokensReported: (call) => Number(call.tokensReported),
  costProvider: ({ cost }) => cost?.provider ?? null,
  costMargin: ({ cost }) => cost?.margin ?? null,
  charged: 'charged',
  ttftMs: ({ ttftMs }) => (ttftMs === null ? null : Math.round(ttftMs)),
  totalMs: (call) => Math.round(call.totalMs),
  createdAt: 'createdAt',
  completedAt: 'completedAt',
  budget: (call) => call.budget ?? null,
  client: ({ labels }) => labels.client,
  endUser: ({ labels }) => labels.user,
  conversation: ({ labels }) => labels.conversation,
  tags: ({ labels }) => tagsText(labels.tags),
  replayOf: ({ labels }) => labels.replayOf,
  prices: ({ prices }) => pricesText(prices),
  cache: 'cache',
  httpStatus: 'httpStatus',
});
export type CallRow = RowOf<typeof callFormat>;

export type SettlementRow = readonly [
  call: CallRow,
  details: CallDetails,
  entries: readonly EntryRow[],
  caller: Settlement['caller'],
  tier: Settlement['tier'],
  /** Null if it is not known. */
  held: NonNullable<Settlement['held']> | null,
];

/** A call that asks for its hold. */
export interface AdmitData extends AdmitRequest {
  row: HoldRow;
}

/** A settlement, and the answer that is stored for its Idempotency-Key. */
export interface SettlementWithAnswer {
  settle: 'metering.settle' | 'metering.settleWithoutHold';
  row: SettlementRow;
  answer: SlotAnswer;
}

/** A settlement, and the totals to return with it. */
export interface WatchedSettlement {
  settlement: SettlementRow | SettlementWithAnswer;
  /** How it is settled without an answer. */
  settle: SettlementWithAnswer['settle'];
  watched: readonly WatchedTotal[];
  /** Milliseconds since 1970. */
  at: number;
}

export function settlementRow({ usage: call, entries, caller, tier, held }: Settlement): SettlementRow {
  const { requestId, completedAt: createdAt } = call;
  return [
    callFormat.row(call),
    callDetails(call),
    entries.map((entry) => entryFormat.row({ ...entry, requestId, createdAt })),
    caller,
    tier,
    held ?? null,
  ];
}
