import { createHmac } from 'node:crypto';
import { decrypt, encrypt } from './sealing-scheme.ts';

/**
 * Seals secrets that the daemon must read without the master key, such as the preimages of payments. They open only on this
 * host, and only with the text that they are bound to.
 */
export interface DataSealer {
  seal(secret: Uint8Array, boundTo: string): string;
  /** Undefined for a text that is damaged, or was not sealed here for the same purpose. */
  open(sealed: string, boundTo: string): Buffer | undefined;
  /** 12 hex digits that tell whether two secrets are the same, and from which the secret cannot be guessed. */
  fingerprint(secret: string, boundTo: string): string;
}

/** `dataKey` is 32 bytes. */
export function createDataSealer(
  dataKey: Uint8Array,
  randomBytes: (count: number) => Uint8Array,
): DataSealer {
  const key = createHmac('sha256', dataKey).update('gateway data sealer').digest();
  return {
    seal: (secret, boundTo) => encrypt(key, secret, boundTo, randomBytes),
    open: (sealed, boundTo) => decrypt(key, sealed, boundTo),
    fingerprint: (secret, boundTo) =>
      createHmac('sha256', key).update(`fingerprint|${boundTo}|`).update(secret).digest('hex').slice(0, 12),
  };
}
