export { type Admission, createAdmission, type Hold } from './admission.ts';
export type { HoldTerms } from './budgets.ts';
export { type Credit, createCredit } from './credit.ts';
export { creditHandlers } from './credit-handlers.ts';
export { usageHandlers } from './handlers.ts';
export type { AccountRecord, GrantRecord, KeyFacts, LedgerFindings, LedgerStore } from './ledger-store.ts';
export type {
  CallStatus,
  CallTrace,
  HoldRecord,
  LedgerEntry,
  LeftHold,
  MeteringStore,
  ServedDay,
  Settlement,
  Spend,
  UsageFilter,
  UsageGroup,
  UsageRecord,
} from './metering-store.ts';
export { recoverHolds } from './recover-holds.ts';
export { ledgerEntriesFor, settledEvent, settlementFor } from './settlement.ts';
export { timeBound } from './time-bound.ts';
export { type UsageReader, usageReader } from './usage-reader.ts';
export { costView, finishedCallView, tokenCounts, usageView } from './usage-view.ts';
