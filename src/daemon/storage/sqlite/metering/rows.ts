import type { Tokens } from '../../../../shared/money.ts';
import { utcDay } from '../../../../shared/time.ts';
import type { PlacedAnswer } from '../../../features/idempotency/idempotency-store.ts';
import type {
  HoldRecord,
  MeteringStore,
  Settlement,
  UsageRecord,
} from '../../../features/metering/metering-store.ts';
import type { Tally } from '../ledger/batch-totals.ts';

/**
 * What a model call sends to the writer's thread: flat lists in the order of the columns, which cost a third of
 * what objects with names cost to copy, and are bound as they are.
 */
export type HoldRow = ReturnType<typeof holdRow>;
export type UsageRow = ReturnType<typeof usageRow>;
export type EntryRow = readonly [kind: string, debit: string, credit: string, amount: number];
export type EventRow = readonly [type: string, workspaceId: string, at: number, data: string];
export type SettlementRow = readonly [usage: UsageRow, entries: EntryRow[], tally: Tally, event: EventRow];
/** Which of the settlements is made, and the answer that is kept with it. */
export interface KeptSettlement {
  settle: 'metering.settle' | 'metering.settleAtOnce' | 'metering.settleAtOncePrepaid';
  row: SettlementRow;
  answer: PlacedAnswer;
}
export type ProgressRow = ReturnType<typeof progressRow>;

export function holdRow(hold: HoldRecord) {
  return [
    hold.requestId,
    hold.workspaceId,
    hold.keyId,
    hold.endpoint,
    hold.model,
    hold.streamed ? 1 : 0,
    hold.ownKey ? 1 : 0,
    hold.amount,
    ...tokenColumns(hold.promptEstimate),
    hold.promptCost,
    hold.createdAt,
  ] as const;
}

type Progress = Parameters<MeteringStore['progress']>[0];

export function progressRow({ requestId, provider, tokens, cost }: Progress) {
  return [...tokenColumns(tokens), cost, provider, requestId] as const;
}

export function settlementRow({ usage, entries, caller, tier, event }: Settlement): SettlementRow {
  const { tokens } = usage;
  return [
    usageRow(usage),
    entries.map(({ kind, debit, credit, amount }) => [kind, debit, credit, amount] as const),
    [
      usage.keyId,
      dayOf(usage.completedAt),
      usage.charged,
      caller,
      usage.ownKey ? 1 : 0,
      tier,
      tokens.input,
      tokens.output,
    ],
    [event.type, event.workspaceId, event.at, JSON.stringify(event.data)],
  ];
}

function usageRow(usage: UsageRecord) {
  return [
    usage.requestId,
    usage.responseId,
    usage.workspaceId,
    usage.keyId,
    usage.endpoint,
    usage.model,
    usage.provider,
    usage.streamed ? 1 : 0,
    usage.ownKey ? 1 : 0,
    usage.status,
    usage.errorCode,
    ...tokenColumns(usage.tokens),
    usage.tokensReported ? 1 : 0,
    usage.cost?.provider ?? null,
    usage.cost?.margin ?? null,
    usage.charged,
    JSON.stringify(usage.attempts),
    usage.ttftMs === null ? null : Math.round(usage.ttftMs),
    Math.round(usage.totalMs),
    usage.createdAt,
    usage.completedAt,
    usage.trace === undefined ? null : JSON.stringify(usage.trace),
  ] as const;
}

function tokenColumns({ input, cachedInput, cacheWrite, output, reasoning }: Tokens) {
  return [input, cachedInput, cacheWrite, output, reasoning] as const;
}

const dayMs = 86_400_000;
let lastDay = -1;
let lastDayText = '';

/** Most calls of a batch end on the same day: its text is made once. */
function dayOf(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) {
    lastDay = day;
    lastDayText = utcDay(ms);
  }
  return lastDayText;
}
