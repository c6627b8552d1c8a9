import { ApiError } from '../../../shared/errors.ts';

const slugCharsMax = 40;
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Slugs for a workspace of this name, best first; the last ones are practically never taken. */
export function slugsFor(name: string, randomBytes: (count: number) => Uint8Array): string[] {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replace(/^-+|-+$/g, '');
  const base = plain === '' ? 'workspace' : plain;
  const ending = (chars: number) => Array.from(randomBytes(chars), (byte) => alphabet[byte & 31]).join('');
  const candidates = [base, `${base}-${ending(4)}`, `${base.slice(0, 30)}-${ending(16)}`];
  return candidates.filter((slug) => slug !== 'me');
}

/** A slug as somebody wrote it; `me` names the caller's own workspace and is nobody's slug. */
export function checkedSlug(slug: string): string {
  if (slug === 'me') throw new ApiError('invalid_request', { param: 'slug', message: '`me` is no slug.' });
  return slug;
}

/** Whether a handle in lower case could be taken for something else: for oneself, or for the id of another. */
export function isReservedHandle(handle: string): boolean {
  return handle === 'me' || handle.startsWith('usr_') || /^[0-9]+$/.test(handle);
}
