import { ApiError } from '../../../../shared/errors.ts';
import { dollarText, formatUsd, type NanoUsd } from '../../../../shared/money/money.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import {
  type AgentCallKind,
  type AgentTotals,
  dailyCalls,
  type FreeAllowance,
  liftingBalance,
} from '../rules/free-tier.ts';
import { PaymentDue } from './limit-errors.ts';

/** An agent has made all its calls of a day, which ends at `resetsAt`. */
export function dailyLimitReached(
  kind: AgentCallKind,
  { now, resetsAt }: { now: number; resetsAt: number },
): ApiError {
  const noun = kind === 'decisions' ? 'decisions' : 'calls';
  return new ApiError('agent_daily_limit', {
    message: `An agent may make ${dailyCalls[kind]} ${noun} a day. A balance of ${dollarText(formatUsd(liftingBalance))} lifts this limit.`,
    retryAfterSeconds: Math.ceil((resetsAt - now) / 1000),
    extra: { resets_at: isoTime(resetsAt) },
  });
}

interface OfferDetails {
  totals: AgentTotals | undefined;
  allowance: FreeAllowance;
  balance: NanoUsd;
  resetsAt: number;
}

/** Adds to the reason for which a call is not free what is left, and how to go on. */
export function withOffer(
  error: ApiError,
  { totals, allowance: { requests, budget }, balance, resetsAt }: OfferDetails,
): PaymentDue {
  const used = { requests: totals?.freeRequests ?? 0, cost: (totals?.freeCost ?? 0) + (totals?.held ?? 0) };
  return new PaymentDue(error.code, {
    available: Math.max(0, balance),
    affordable: Number.POSITIVE_INFINITY,
    message: `${error.message} Add credit, or wait until ${isoTime(resetsAt)}.`,
    extra: {
      pay: { methods: ['credit'] },
      free_tier: {
        requests: { limit: requests, used: Math.min(used.requests, requests) },
        budget_usd: { limit: formatUsd(budget), used: formatUsd(used.cost) },
      },
      balance_usd: formatUsd(balance),
      resets_at: isoTime(resetsAt),
    },
  });
}
