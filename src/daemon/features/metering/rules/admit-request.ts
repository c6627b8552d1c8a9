import type { ErrorCode } from '../../../../shared/errors.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { HeldRoute } from '../store.ts';
import type { BudgetRule, SpendSubject } from './budget-rule.ts';
import type { AgentTotals, FreeAllowance } from './free-tier.ts';
import type { LimitedKey, Shortage } from './limit-rules.ts';

/** The limits that apply to a call, as the member knows them that asks for it. */
export interface AppliedLimits {
  key: LimitedKey | undefined;
  /** The hard budgets of each subject. */
  budgets: readonly AppliedBudgets[];
  isPrepaid: boolean;
  /** The routes that may answer the call, if budgets count it by its route. */
  routes?: readonly AppliedRoute[];
}

interface AppliedBudgets {
  subject: SpendSubject;
  rules: readonly BudgetRule[];
}

/** A route of a call that asks for its hold, and the hard budgets of its model and provider. */
export interface AppliedRoute {
  route: HeldRoute;
  budgets: readonly AppliedBudgets[];
}

/** What a call that asks for its hold is compared with. */
export interface AdmitRequest extends AppliedLimits {
  /** Milliseconds since 1970. */
  at: number;
  agent?: AgentRequest;
}

/** What an agent's call asks for. */
export interface AgentRequest {
  allowance: FreeAllowance;
  isOutsideFreeTier: boolean;
  /** What the answer was shortened to; undefined if it is whole. */
  shortenedTo: 'free-tier' | 'balance' | undefined;
  /** A rest of the free tier that pays for no answer; -1 if none is known. */
  tooLittle: NanoUsd;
}

/** What an agent's call was compared with. */
export interface AgentFacts {
  totals: AgentTotals;
  balance: NanoUsd;
}

export type AdmitAnswer =
  /** `free`: what it reserves of the free tier, and holds no money. */
  | { kind: 'held'; free?: NanoUsd }
  | { kind: 'rate'; limit: number; waitMs: number }
  | {
      kind: 'short';
      affordable: NanoUsd;
      shortage: Shortage;
      agent?: AgentFacts;
      /** What is left of each route, and what running calls hold of it. */
      routes?: readonly { affordable: NanoUsd; held: NanoUsd }[];
    }
  /** The free tier pays for a shorter answer at most. */
  | { kind: 'free-tier-short'; affordable: NanoUsd }
  | { kind: 'refused'; code: ErrorCode; agent: AgentFacts };
