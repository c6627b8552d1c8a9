import { createHmac } from 'node:crypto';
import canonicalize from 'canonicalize';
import { type PaymentChallenge, toBase64Url } from '../../../shared/payments/payment-scheme.ts';

/** JSON in its only canonical form (RFC 8785). */
export function canonicalJson(json: unknown): string {
  return canonicalize(json) ?? '';
}

/** JSON as `request` and `opaque` of a challenge contain it: canonical, as base64url. */
export function canonicalBase64Url(json: object): string {
  return toBase64Url(canonicalJson(json));
}

/**
 * The id that binds a challenge to its parameters: base64url of their HMAC-SHA256, with `|` between them and empty texts
 * for those that are missing. Source: draft-httpauth-payment-00.
 */
export function challengeId(
  secret: Uint8Array,
  { realm, method, intent, request, expires, digest, opaque }: Omit<PaymentChallenge, 'id'>,
): string {
  const slots = [realm, method, intent, request, expires, digest, opaque].map((slot) => slot ?? '');
  return createHmac('sha256', secret).update(slots.join('|')).digest('base64url');
}
