import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { ApiError } from '../../../shared/errors.ts';

/**
 * The fingerprint of a request: 64 hexadecimal digits, from the canonical JSON of its body (RFC 8785). Fails for a body
 * without a canonical form: with a lone surrogate or a number that is not finite.
 */
export async function fingerprintOf(
  { method, path }: { method: string; path: string },
  body: unknown,
): Promise<string> {
  const hash = createHash('sha256').update(`${method} ${path}\n`);
  try {
    return hash.update(canonicalize(body) ?? '').digest('hex');
  } catch (cause) {
    throw new ApiError('invalid_request', {
      param: 'Idempotency-Key',
      message: 'This body has no canonical JSON form, so it cannot be sent with an idempotency key.',
      cause,
    });
  }
}
