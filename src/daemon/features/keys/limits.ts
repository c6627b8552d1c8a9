import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../../shared/money.ts';
import { isoTime, parseTime } from '../../../shared/time.ts';
import type { KeyLimits } from '../../handler.ts';

const nothing: KeyLimits = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

interface Change {
  change: LimitsChange;
  now: number;
  /** What stands before the names of the fields: `limits.` where they are a part of the body. */
  place?: string;
}

/**
 * Limits with a change: what it leaves out stays, null clears. Null when nothing is limited then. Fails with
 * `invalid_request`, naming the field, for a time that is past, an amount that is none, or a name that is no text.
 */
export function changedLimits(
  before: KeyLimits | null,
  { change, now, place = '' }: Change,
): KeyLimits | null {
  const limits = { ...(before ?? nothing) };
  if (change.spend_cap !== undefined) {
    const { usd, period } = change.spend_cap ?? {};
    limits.spendCap =
      usd === undefined || period === undefined
        ? null
        : { amount: amountOf(usd, `${place}spend_cap.usd`), period };
  }
  if (change.max_price !== undefined) limits.maxPrice = maxPriceOf(change.max_price, place);
  if (change.models !== undefined) limits.models = wellFormed(change.models, `${place}models`);
  if (change.requests_per_minute !== undefined) limits.requestsPerMinute = change.requests_per_minute;
  if (change.expires_at !== undefined) {
    limits.expiresAt =
      change.expires_at === null ? null : timeToCome(change.expires_at, `${place}expires_at`, now);
  }
  return Object.values(limits).every((limit) => limit === null) ? null : limits;
}

/** Limits as they are shown. */
export function limitsView(limits: KeyLimits | null): Limits {
  const { spendCap, maxPrice, models, requestsPerMinute, expiresAt } = limits ?? nothing;
  return {
    spend_cap: spendCap && { usd: formatUsd(spendCap.amount), period: spendCap.period },
    max_price: maxPrice && { input: priceView(maxPrice.input), output: priceView(maxPrice.output) },
    models,
    requests_per_minute: requestsPerMinute,
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  };
}

function priceView(price: NanoUsd | null): string | null {
  return price === null ? null : formatUsd(price);
}

function maxPriceOf(wish: LimitsChange['max_price'], place: string): KeyLimits['maxPrice'] {
  const read = (name: 'input' | 'output') => {
    const text = wish?.[name];
    return text === undefined || text === null ? null : amountOf(text, `${place}max_price.${name}`);
  };
  const cap = { input: read('input'), output: read('output') };
  return cap.input === null && cap.output === null ? null : cap;
}

function amountOf(text: string, param: string): NanoUsd {
  const amount = parseUsd(text);
  if (amount === undefined || amount < 0)
    throw inputFault(param, 'must be dollars, like "2.50", at most 9000000');
  return amount;
}

function timeToCome(text: string, param: string, now: number): number {
  const time = parseTime(text);
  if (time === undefined) throw inputFault(param, 'must be a time in UTC, like 2027-01-31T00:00:00Z');
  if (time <= now) throw inputFault(param, 'must be in the future');
  return time;
}
