import { groupDigits } from '../../../shared/text/group-digits.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';

/** Satoshis with thousands separators: `1,500 sats`; millisatoshis where they matter. */
export function formatMsat(msat: number): string {
  const [whole = '', fraction] = (msat / 1000).toFixed(3).split('.');
  const decimals = fraction && trimEnd(fraction, '0');
  const digits = `${groupDigits(whole)}${decimals ? `.${decimals}` : ''}`;
  return `${digits} ${digits === '1' ? 'sat' : 'sats'}`;
}

const minFeeLimitMsat = 2000;

/** The most that a payment over Lightning may cost in fees: 1 % of the amount, and at least two satoshis. */
export function feeLimitFor(amountMsat: number): number {
  return Math.max(minFeeLimitMsat, Math.ceil(amountMsat / 100));
}
