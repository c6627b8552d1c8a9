import { groupDigits } from '../text/group-digits.ts';
import { trimEnd } from '../text/trim-text.ts';

/** `1500250` → `1,500.25 sats`: millisatoshis as satoshis. */
export function bitcoin(msats: number): string {
  const fraction = trimEnd(String(msats % 1000).padStart(3, '0'), '0');
  const sats = `${groupDigits(String(Math.floor(msats / 1000)))}${fraction && `.${fraction}`}`;
  return `${sats} ${sats === '1' ? 'sat' : 'sats'}`;
}
