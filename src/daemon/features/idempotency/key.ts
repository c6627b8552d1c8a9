import { idempotencyKeyCharactersMax } from '../../../shared/contract/model-call.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../handler.ts';

/**
 * The value of an Idempotency-Key header; undefined without one. Quotes around it, as a structured field has them, do
 * not count. A header that came twice arrives as both values with a comma and a space between, which no key has.
 */
export function keyIn(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  const key = /^".*"$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text;
  if (key.length <= idempotencyKeyCharactersMax && /^[!-~]+$/.test(key)) return key;
  throw new ApiError('invalid_request', {
    param: 'Idempotency-Key',
    message: `An idempotency key has 1 to ${idempotencyKeyCharactersMax} visible ASCII characters and is sent once.`,
  });
}

const loopback = /^(127\.|::1$|::ffff:127\.)/;

/** Whose keys they are: those of one API key, of one login in one workspace, or of one address where nobody says who they are. */
export function scopeOf(caller: Caller, remoteAddress = ''): string {
  if (caller.kind === 'key') return `key:${caller.keyId}`;
  if (caller.kind === 'login') return `login:${caller.loginId} ${caller.workspaceId}`;
  return `address:${loopback.test(remoteAddress) ? 'loopback' : remoteAddress}`;
}
