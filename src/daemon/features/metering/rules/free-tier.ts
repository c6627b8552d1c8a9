import { isDecisionPath } from '../../../../shared/constants/decision-paths.ts';
import type { ErrorCode } from '../../../../shared/errors.ts';
import { type NanoUsd, parseUsd } from '../../../../shared/money/money.ts';

/** The finished calls of an agent on one UTC day. */
export interface AgentDay {
  /** Calls that were free, and what they cost the host. */
  freeRequests: number;
  freeCost: NanoUsd;
  decisions: number;
  /** All calls but decisions. */
  others: number;
}

/** The same with its running calls. */
export interface AgentTotals extends AgentDay {
  /** The maximum cost of the free calls that are running. */
  held: NanoUsd;
}

/** The free calls of all agents on one UTC day. */
export interface PoolTotals {
  spent: NanoUsd;
  /** The maximum cost of those that are running. */
  held: NanoUsd;
}

/** How much is free for agents each day. */
export interface FreeAllowance {
  requests: number;
  budget: NanoUsd;
  /** For all agents together. */
  sharedPool: NanoUsd;
}

export const dailyCalls = { decisions: 20, others: 500 } as const;
export type AgentCallKind = keyof typeof dailyCalls;

/** The balance that lifts the daily limits. */
export const liftingBalance = parseUsd('0.01') as NanoUsd;

export function agentCallKind({ endpoint }: { endpoint: string }): AgentCallKind {
  return isDecisionPath(endpoint) ? 'decisions' : 'others';
}

/** Whether a balance lifts the daily limits. */
export function isLifting(balance: NanoUsd): boolean {
  return balance >= liftingBalance;
}

/** Whether an agent has made all its calls of a day. */
export function isDayUsed(kind: AgentCallKind, totals: AgentDay, balance: NanoUsd): boolean {
  return totals[kind] >= dailyCalls[kind] && !isLifting(balance);
}

interface AgentCall {
  kind: AgentCallKind;
  /** The most that it can cost. */
  amount: NanoUsd;
  isOutsideFreeTier: boolean;
  /** The agent's remaining credit. */
  balance: NanoUsd;
}

/**
 * The maximum cost that a free call reserves, or why it is not free; `affordable` is set if a shorter answer could be. Credit
 * pays for the whole output rather than that the free tier shortens it.
 */
export function freeShare(
  { kind, amount, isOutsideFreeTier, balance }: AgentCall,
  { totals, pool }: { totals: AgentTotals; pool: PoolTotals },
  { requests, budget, sharedPool }: FreeAllowance,
): { free: NanoUsd } | { code: ErrorCode; affordable?: NanoUsd } {
  // Decisions are free for everyone.
  if (kind === 'decisions') return { free: 0 };
  if (isOutsideFreeTier) return { code: 'agent_payment_required' };
  if (totals.freeRequests >= requests) return { code: 'agent_free_requests_used' };
  const left = Math.max(0, budget - totals.freeCost - totals.held);
  const poolLeft = Math.max(0, sharedPool - pool.spent - pool.held);
  const affordable = Math.min(left, poolLeft);
  if (amount <= affordable) return { free: amount };
  const code = poolLeft < left ? 'agent_free_tier_full' : 'agent_free_budget_used';
  return balance > affordable ? { code } : { code, affordable };
}
