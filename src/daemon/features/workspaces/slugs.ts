import { ApiError } from '../../../shared/errors.ts';

const slugCharsMax = 40;
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Candidate slugs for a workspace of this name, best first; the last is random enough to be free. */
export function slugsFor(name: string, randomBytes: (count: number) => Uint8Array): string[] {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replace(/^-|-$/g, '');
  const base = plain === '' ? 'workspace' : plain;
  const ending = (chars: number) => Array.from(randomBytes(chars), (byte) => alphabet[byte & 31]).join('');
  const candidates = [base, `${base}-${ending(4)}`, `${base.slice(0, 30)}-${ending(16)}`];
  return candidates.filter((slug) => slug !== 'me');
}

/** Fails with `invalid_request` for `me`, which names the caller's own workspace. */
export function checkedSlug(slug: string): string {
  if (slug === 'me') throw new ApiError('invalid_request', { param: 'slug', message: '`me` is reserved.' });
  return slug;
}

/** Whether a lowercase handle is ambiguous: with `me`, or with the id of a user. */
export function isReservedHandle(handle: string): boolean {
  return handle === 'me' || handle.startsWith('usr_') || /^[0-9]+$/.test(handle);
}
