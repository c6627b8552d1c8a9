import { createHash } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';

/**
 * What was asked, told apart from everything else that could be asked: 64 hexadecimal digits, made from the canonical
 * text of the body (RFC 8785), which all equal bodies have. Fails for a body that has none: half of a character, or a
 * number beyond all bounds.
 */
export async function fingerprintOf(
  { method, path }: { method: string; path: string },
  body: unknown,
): Promise<string> {
  const { default: canonicalize } = await import('canonicalize');
  const hash = createHash('sha256').update(`${method} ${path}\n`);
  try {
    return hash.update(canonicalize(body) ?? '').digest('hex');
  } catch (cause) {
    throw new ApiError('invalid_request', {
      param: 'Idempotency-Key',
      message: 'This body cannot be told from others, and so not be sent with an idempotency key.',
      cause,
    });
  }
}
