import { createHash } from 'node:crypto';

/** Whether a preimage proves the payment of an invoice; the hash is hexadecimal. */
export function isPreimageOf(preimage: Uint8Array, paymentHash: string): boolean {
  return createHash('sha256').update(preimage).digest('hex') === paymentHash;
}
