import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Macaroon } from '../../../shared/payments/macaroon.ts';

const hmac = (key: Uint8Array | string, data: Uint8Array | string) =>
  createHmac('sha256', key).update(data).digest();

/** Signs an identifier and its caveats with a root key, as the reference implementation libmacaroons does. */
export function mint(rootKey: Uint8Array, identifier: Uint8Array, caveats: readonly string[]): Macaroon {
  return { identifier, caveats: [...caveats], signature: sign(rootKey, identifier, caveats) };
}

/** Whether this root key signed the identifier and all caveats. */
export function isSignedBy(rootKey: Uint8Array, { identifier, caveats, signature }: Macaroon): boolean {
  return timingSafeEqual(sign(rootKey, identifier, caveats), signature);
}

function sign(rootKey: Uint8Array, identifier: Uint8Array, caveats: readonly string[]): Buffer {
  const key = hmac('macaroons-key-generator', rootKey);
  return caveats.reduce((signature, caveat) => hmac(signature, caveat), hmac(key, identifier));
}
