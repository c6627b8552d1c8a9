import { FieldFault } from '../../parts/form.tsx';

/** The number in a field of satoshis. */
export function wholeSats(text: string): number {
  const sats = Number(text.replaceAll(/[\s,_]/g, ''));
  if (!Number.isSafeInteger(sats) || sats < 1)
    throw new FieldFault('sats', 'Enter a whole number of sats, such as 1500.');
  return sats;
}
