export { type Admission, createAdmission, type Hold } from './admission.ts';
export {
  AgentAllowances,
  type AgentUse,
  type AllowancesStore,
  type FreeTierSettings,
} from './agent-allowances.ts';
export { BudgetRules, marksOf } from './budget-rules.ts';
export type { BudgetNews, KeyUse } from './budgets.ts';
export { createCredit } from './credit.ts';
export { creditHandlers, usageHandlers } from './handlers.ts';
export type { LedgerStore } from './ledger-store.ts';
export { type CapWarning, capWarningData, PaymentDue } from './limit-errors.ts';
export { recoverHolds } from './recover-holds.ts';
export type { BudgetRule, BudgetScope, SpendSubject } from './rules/budget-rule.ts';
export { dailyCalls, isLifting } from './rules/free-tier.ts';
export { distribution } from './series-view.ts';
export { settledEvent, settlementFor } from './settlement.ts';
export { createSharedAdmission } from './shared-admission.ts';
export { SharedAllowances, type SharedAllowancesStore } from './shared-allowances.ts';
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
