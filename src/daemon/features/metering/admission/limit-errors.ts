import { ApiError, type ErrorCode, type ErrorDetails } from '../../../../shared/errors.ts';
import { dollarText, formatUsd, type NanoUsd } from '../../../../shared/money/money.ts';
import { endOfPeriod } from '../../../../shared/money/spend-periods.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import type { KeyPolicy, SpendCap } from '../../../base/handler.ts';
import type { BudgetRule, BudgetScope } from '../rules/budget-rule.ts';
import type { LimitedKey, Shortage } from '../rules/limit-rules.ts';
import { periodOf } from '../rules/running-totals.ts';

const periods = { day: ' per day', week: ' per week', month: ' per month', total: '', none: '' } as const;

/** What errors and events call the cap of a key, or of an autopilot. */
function capNames({ isAutopilot }: Pick<KeyPolicy, 'isAutopilot'>) {
  return isAutopilot
    ? ({ subject: 'autopilot', param: 'policy.modelSpendCap' } as const)
    : ({ subject: 'key', param: 'limits.spend_cap' } as const);
}

/** What is spent and held of a limit. */
interface LimitState {
  spent: NanoUsd;
  held: NanoUsd;
  now: number;
  /** Set if the call may start once running ones have ended. */
  retryAfterSeconds?: number | undefined;
}

/** The call could exceed the spending cap of its key or autopilot. */
function capReached(
  cap: SpendCap,
  policy: Pick<KeyPolicy, 'isAutopilot'>,
  { spent, held, now, retryAfterSeconds }: LimitState,
): ApiError {
  const holds = held > 0 ? ` and ${reserved(held)}` : '';
  const { subject, param } = capNames(policy);
  const end = endOfPeriod(periodOf(cap), now, cap.calendar);
  return new ApiError('limit_reached', {
    param,
    message: `This ${subject} may spend ${dollarText(formatUsd(cap.amount))}${periods[cap.period]}: ${dollarText(formatUsd(spent))} is spent${holds}, and this call could cost more than the rest.`,
    extra: end === undefined ? {} : { resets_at: isoTime(end) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Whose calls a budget counts, in words: `the tag team=search`. */
function scopeText({ kind, value }: BudgetScope): string {
  if (kind === 'where') return `the calls ${value}`;
  return kind === 'workspace' ? 'the workspace' : `the ${kind} ${value}`;
}

/** The call could exceed a hard budget. */
function budgetReached(rule: BudgetRule, { spent, held, now, retryAfterSeconds }: LimitState): ApiError {
  const { id, scope, amount, period, calendar } = rule;
  const holds = held > 0 ? ` and ${reserved(held)}` : '';
  const end = endOfPeriod(period, now, calendar);
  const remedy =
    end === undefined
      ? 'An owner or admin of the workspace can raise it.'
      : `It resets at ${isoTime(end)}; an owner or admin of the workspace can raise it.`;
  return new ApiError('limit_reached', {
    param: `budgets.${id}`,
    message: `The budget "${id}" of ${scopeText(scope)} allows ${dollarText(formatUsd(amount))}${periods[period]}: ${dollarText(formatUsd(spent))} is spent${holds}, and this call could cost more than the rest. ${remedy}`,
    extra: { budget: id, ...(end !== undefined && { resets_at: isoTime(end) }) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** A key or autopilot has spent most of its cap. */
export interface CapWarning {
  workspaceId: string;
  policy: Pick<KeyPolicy, 'keyId' | 'isAutopilot'>;
  cap: SpendCap;
  /** In the period of the cap. */
  spent: NanoUsd;
  at: number;
}

/** The data of the event `limit.warning`. */
export function capWarningData({ policy, cap, spent, at }: CapWarning): Record<string, unknown> {
  const { subject, param } = capNames(policy);
  const end = endOfPeriod(periodOf(cap), at, cap.calendar);
  return {
    [subject]: policy.keyId,
    param,
    period: cap.period,
    limit_usd: formatUsd(cap.amount),
    spent_usd: formatUsd(spent),
    resets_at: end === undefined ? null : isoTime(end),
  };
}

interface DueDetails extends ErrorDetails {
  /** The amount that the balance covers. */
  available: NanoUsd;
  /** The most that the call may cost by other limits. */
  affordable: NanoUsd;
}

/** A call that can start once it is paid for. */
export class PaymentDue extends ApiError {
  readonly available: NanoUsd;
  readonly affordable: NanoUsd;

  constructor(code: ErrorCode, { available, affordable, ...details }: DueDetails) {
    super(code, details);
    this.available = available;
    this.affordable = affordable;
  }
}

/** The call could cost more than the workspace's prepaid balance. */
function balanceTooLow(
  { balance, held, byOthers: affordable }: Extract<Shortage, { kind: 'balance' }>,
  retryAfterSeconds: number | undefined,
): PaymentDue {
  const holds = held > 0 ? `, of which ${reserved(held)},` : '';
  return new PaymentDue('insufficient_balance', {
    available: Math.max(0, balance - held),
    affordable,
    message: `The balance of ${dollarText(formatUsd(balance))}${holds} does not cover the cost of this call.`,
    extra: { balance_usd: formatUsd(balance) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

interface LimitedCall {
  policy: LimitedKey | undefined;
  budgets: readonly { rules: readonly BudgetRule[] }[];
  now: number;
  retryAfterSeconds?: number | undefined;
}

/** The error for a call that a limit leaves too little, and the budget that does, with what is spent of it. */
export function limitError(
  shortage: Shortage | undefined,
  { policy, budgets, now, retryAfterSeconds }: LimitedCall,
): { error: ApiError; rule?: BudgetRule; spent: NanoUsd } {
  if (shortage?.kind === 'balance') {
    return { error: balanceTooLow(shortage, retryAfterSeconds), spent: 0 };
  }
  if (shortage?.kind === 'cap') {
    for (let key = policy; key; key = key.parent) {
      const cap = key.limits?.spendCap;
      if (!cap || key.keyId !== shortage.keyId) continue;
      return {
        error: capReached(cap, key, { ...shortage, now, retryAfterSeconds }),
        spent: shortage.spent,
      };
    }
  }
  if (shortage?.kind === 'budget') {
    for (const { rules } of budgets) {
      const rule = rules.find(({ id }) => id === shortage.id);
      if (rule)
        return {
          error: budgetReached(rule, { ...shortage, now, retryAfterSeconds }),
          rule,
          spent: shortage.spent,
        };
    }
  }
  throw new TypeError('no limit applies to this call');
}

function reserved(held: NanoUsd): string {
  return `${dollarText(formatUsd(held))} is reserved for running calls`;
}

/** The key exceeds its request rate. */
export function rateReached(limit: number, waitMs: number): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return new ApiError('limit_reached', {
    param: 'limits.requests_per_minute',
    message: `This key allows ${plural(limit, 'call')} per minute. Try again in ${plural(retryAfterSeconds, 'second')}.`,
    retryAfterSeconds,
  });
}
