import { ApiError } from '../../../shared/errors.ts';
import { startOfDay } from '../../../shared/time/time.ts';
import { formatMsat } from './amounts.ts';
import type { PaymentBudget } from './store.ts';

/** Limits on payments by a program that decides by itself, such as a model. Amounts in millisatoshis. */
export interface SpendingLimits {
  /** The budget of a wallet that the payments count against. */
  budget: string;
  perPaymentMsat: number;
  /** For a UTC day, with fees. */
  perDayMsat: number;
  /** How errors name the limits. */
  names: { perPayment: string; perDay: string };
}

export interface PayOptions {
  limits?: SpendingLimits;
  /** Ends the wait for the payment, which continues. */
  signal?: AbortSignal;
}

export function requireWithinLimit(
  amount: number,
  { perPaymentMsat, perDayMsat, names }: SpendingLimits,
): void {
  if (perPaymentMsat === 0 || perDayMsat === 0) {
    throw new ApiError('permission', {
      message: `Payments are not allowed until \`${names.perPayment}\` and \`${names.perDay}\` are set.`,
    });
  }
  if (amount <= perPaymentMsat) return;
  throw new ApiError('permission', {
    param: 'invoice',
    message: `The invoice asks for ${formatMsat(amount)}, more than \`${names.perPayment}\` allows: ${formatMsat(perPaymentMsat)}.`,
  });
}

/** The lower maximum of a request applies. */
export function requireWithinMaximum(
  amount: number,
  {
    maxAmountMsats,
    maxAmountSats,
  }: { maxAmountMsats?: number | undefined; maxAmountSats?: number | undefined },
): void {
  const ofSats = maxAmountSats === undefined ? Number.POSITIVE_INFINITY : maxAmountSats * 1000;
  const ofMsats = maxAmountMsats ?? Number.POSITIVE_INFINITY;
  const max = Math.min(ofSats, ofMsats);
  if (amount <= max) return;
  throw new ApiError('invalid_request', {
    param: ofSats < ofMsats ? 'maxAmountSats' : 'maxAmountMsats',
    message: `The invoice asks for ${formatMsat(amount)}, more than the maximum of ${formatMsat(max)}.`,
  });
}

/** The budget of the day of a time. */
export function budgetOf({ budget, perDayMsat }: SpendingLimits, now: number): PaymentBudget {
  return { name: budget, since: startOfDay(now), max: perDayMsat };
}
