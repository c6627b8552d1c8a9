import { ApiError } from '../../../shared/errors.ts';
import { formatUsd, type NanoUsd } from '../../../shared/money.ts';
import { isoTime } from '../../../shared/time.ts';
import type { KeyLimits } from '../../handler.ts';

const dayMs = 24 * 60 * 60 * 1000;
const periods = { day: ' a day', month: ' a month', total: '' } as const;

type SpendCap = NonNullable<KeyLimits['spendCap']>;

/** The key's owner has not allowed that much spending. */
export function capReached(cap: SpendCap, state: { spent: NanoUsd; held: NanoUsd; now: number }): ApiError {
  const { spent, held, now } = state;
  const holds = held > 0 ? ` and ${setAside(held)}` : '';
  return new ApiError('limit_reached', {
    param: 'limits.spend_cap',
    message: `This key may spend $${formatUsd(cap.amount)}${periods[cap.period]}: $${formatUsd(spent)} is spent${holds}, and the call could cost more than what is left.`,
    extra: cap.period === 'total' ? {} : { resets_at: isoTime(endOf(cap.period, now)) },
  });
}

/** The workspace has not paid for that much. */
export function balanceTooLow({ balance, held }: { balance: NanoUsd; held: NanoUsd }): ApiError {
  const holds = held > 0 ? `, of which ${setAside(held)},` : '';
  return new ApiError('insufficient_balance', {
    message: `The balance of $${formatUsd(balance)}${holds} does not cover what this call can cost.`,
    extra: { balance_usd: formatUsd(balance) },
  });
}

function setAside(held: NanoUsd): string {
  return `$${formatUsd(held)} is set aside for running calls`;
}

/** The key asks more often than its owner allows. */
export function rateReached(limit: number, waitMs: number): ApiError {
  const calls = limit === 1 ? '1 call' : `${limit} calls`;
  return new ApiError('limit_reached', {
    param: 'limits.requests_per_minute',
    message: `This key may make ${calls} in 60 seconds.`,
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}

/** When the UTC day or month of a time is over. */
function endOf(period: 'day' | 'month', ms: number): number {
  let end = ms - (ms % dayMs) + dayMs;
  if (period === 'day') return end;
  while (isoTime(end).slice(8, 10) !== '01') end += dayMs;
  return end;
}
