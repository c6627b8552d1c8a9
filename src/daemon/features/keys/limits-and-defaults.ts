import type {
  KeyDefaultsChange,
  KeyDefaults as KeyDefaultsView,
} from '../../../shared/contract/key-defaults.ts';
import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../../shared/money/money.ts';
import { calendarIn, calendarView } from '../../../shared/money/spend-calendars.ts';
import { isoTime, parseTime } from '../../../shared/time/time.ts';
import type { KeyDefaults, KeyLimits } from '../../base/handler.ts';

const noLimits: Required<KeyLimits> = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
  concurrency: null,
  queueSeconds: null,
};

const noDefaults: Required<KeyDefaults> = { cache: null, store: null, events: null, capture: null };

interface Change {
  change: LimitsChange;
  now: number;
  /** Prefix of field names in errors: `limits.` if they are nested in the body. */
  prefix?: string;
}

/**
 * Applies a change to limits: absent members stay, null clears. Returns null if none are left. Fails with
 * `invalid_request`, naming the field, for a past time, a malformed amount or malformed text.
 */
export function changedLimits(
  before: KeyLimits | null,
  { change, now, prefix = '' }: Change,
): KeyLimits | null {
  const limits = { ...noLimits, ...before };
  if (change.spend_cap !== undefined) {
    const { usd, period, ...members } = change.spend_cap ?? {};
    const calendar = calendarIn(members, `${prefix}spend_cap.`);
    limits.spendCap =
      usd === undefined || period === undefined
        ? null
        : { amount: amountOf(usd, `${prefix}spend_cap.usd`), period, ...(calendar && { calendar }) };
  }
  if (change.max_price !== undefined) limits.maxPrice = maxPriceOf(change.max_price, prefix);
  if (change.models !== undefined) limits.models = wellFormed(change.models, `${prefix}models`);
  if (change.requests_per_minute !== undefined) limits.requestsPerMinute = change.requests_per_minute;
  if (change.concurrency !== undefined) limits.concurrency = change.concurrency;
  if (change.queue_seconds !== undefined) limits.queueSeconds = change.queue_seconds;
  if (change.expires_at !== undefined) {
    limits.expiresAt =
      change.expires_at === null ? null : futureTime(change.expires_at, `${prefix}expires_at`, now);
  }
  return Object.values(limits).every((limit) => limit === null) ? null : limits;
}

/** The API's form of limits. */
export function limitsView(limits: KeyLimits | null): Limits {
  const { spendCap, maxPrice, models, requestsPerMinute, expiresAt, concurrency, queueSeconds } = {
    ...noLimits,
    ...limits,
  };
  return {
    spend_cap: spendCap && {
      usd: formatUsd(spendCap.amount),
      period: spendCap.period,
      ...(spendCap.calendar && calendarView(spendCap.calendar)),
    },
    max_price: maxPrice && { input: priceView(maxPrice.input), output: priceView(maxPrice.output) },
    models,
    requests_per_minute: requestsPerMinute,
    concurrency,
    queue_seconds: queueSeconds,
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
  };
}

/** Applies a change to defaults: absent members stay, null clears. Returns null if none are left. */
export function changedDefaults(before: KeyDefaults | null, change: KeyDefaultsChange): KeyDefaults | null {
  const { cache, store, events, capture } = { ...noDefaults, ...before, ...change };
  const defaults = { cache, store, events, capture };
  return Object.values(defaults).every((value) => value === null) ? null : defaults;
}

/** The API's form of defaults. */
export function defaultsView(defaults: KeyDefaults | null): KeyDefaultsView {
  return { ...noDefaults, ...defaults };
}

function priceView(price: NanoUsd | null): string | null {
  return price === null ? null : formatUsd(price);
}

function maxPriceOf(change: LimitsChange['max_price'], prefix: string): KeyLimits['maxPrice'] {
  const read = (name: 'input' | 'output') => {
    const text = change?.[name];
    return text === undefined || text === null ? null : amountOf(text, `${prefix}max_price.${name}`);
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

function futureTime(text: string, param: string, now: number): number {
  const time = parseTime(text);
  if (time === undefined)
    throw inputFault(param, 'must be a time, like 2027-01-31T00:00:00Z or 2027-01-31T00:00:00+01:00');
  if (time <= now) throw inputFault(param, 'must be in the future');
  return time;
}
