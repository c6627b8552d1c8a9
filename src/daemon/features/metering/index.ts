export { type Admission, createAdmission, type Hold } from './admission.ts';
export {
  AgentAllowances,
  type AgentUse,
  type AllowancesStore,
  dailyCalls,
  type FreeTierSettings,
  isLifting,
} from './agent-allowances.ts';
export type { HoldTerms } from './budgets.ts';
export { type Credit, createCredit } from './credit.ts';
export { creditHandlers, usageHandlers } from './handlers.ts';
export type { AccountRecord, GrantRecord, KeyFacts, LedgerFindings, LedgerStore } from './ledger-store.ts';
export { PaymentDue } from './limit-errors.ts';
export { recoverHolds } from './recover-holds.ts';
export { ledgerEntriesFor, settledEvent, settlementFor } from './settlement.ts';
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
} from './store.ts';
export { timeBound, type UsageReader, usageReader } from './usage-reader.ts';
export { costView, finishedCallView, tokenCounts, usageView } from './usage-view.ts';
