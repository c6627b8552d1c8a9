export { type Admission, createAdmission, type Hold, type KeyUse } from './admission/admission.ts';
export {
  AgentAllowances,
  type AgentUse,
  type AllowancesStore,
  type FreeTierSettings,
} from './admission/agent-allowances.ts';
export { type BudgetNews, BudgetRules, marksOf } from './admission/budget-rules.ts';
export { type CapWarning, capWarningData, PaymentDue } from './admission/limit-errors.ts';
export { recoverHolds } from './admission/recover-holds.ts';
export { settledEvent, settlementFor } from './admission/settlement.ts';
export { createCredit } from './credit.ts';
export { creditHandlers, usageHandlers } from './handlers.ts';
export type { LedgerStore } from './ledger-store.ts';
export type { BudgetRule, BudgetScope, SpendSubject } from './rules/budget-rule.ts';
export { dailyCalls, isLifting } from './rules/free-tier.ts';
export { heldForRoute, type LeftOnRoute } from './rules/held-routes.ts';
export type {
  CallStatus,
  CallTrace,
  HeldRoute,
  HoldRecord,
  HookRun,
  LatencyHistogram,
  LeftHold,
  MeteringStore,
  Series,
  Settlement,
  Spend,
  UsageRecord,
} from './store.ts';
export { distribution } from './usage/series-view.ts';
export { createUsageReader, timeBound, type UsageReader } from './usage/usage-reader.ts';
export {
  type CallOutcome,
  costView,
  finishedCallView,
  subscriptionView,
  tokenCounts,
  usageRecord,
} from './usage/usage-record.ts';
