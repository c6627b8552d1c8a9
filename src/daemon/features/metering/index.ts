export { type Admission, type AdmissionDeps, createAdmission, type Hold } from './admission.ts';
export {
  AgentAllowances,
  type AgentUse,
  type AllowancesStore,
  dailyCalls,
  type FreeTierSettings,
  isLifting,
} from './agent-allowances.ts';
export { type BudgetRule, BudgetRules, type BudgetScope, marksOf } from './budget-rules.ts';
export type { BudgetNews, KeyUse } from './budgets.ts';
export { createCredit } from './credit.ts';
export { creditHandlers, usageHandlers } from './handlers.ts';
export type { LedgerStore, SpendSubject } from './ledger-store.ts';
export { capWarningData, PaymentDue } from './limit-errors.ts';
export { recoverHolds } from './recover-holds.ts';
export { distribution } from './series-view.ts';
export { settledEvent, settlementFor } from './settlement.ts';
export type {
  CallStatus,
  CallTrace,
  HoldRecord,
  LatencyHistogram,
  LeftHold,
  MeteringStore,
  Series,
  Settlement,
  Spend,
  UsageRecord,
} from './store.ts';
export { createUsageReader, timeBound, type UsageReader } from './usage-reader.ts';
export { type CallOutcome, usageRecord } from './usage-record.ts';
export { costView, finishedCallView, tokenCounts } from './usage-view.ts';
