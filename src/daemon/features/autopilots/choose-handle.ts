import { ApiError } from '../../../shared/errors.ts';

const charsMax = 64;
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Returns the handle in lower case. Fails with `invalid_request` for a reserved one. */
export function checkHandle(handle: string): string {
  const lower = handle.toLowerCase();
  if (/^(agent|service):/.test(lower)) {
    const message = '`handle` must not start with `agent:` or `service:`, which are reserved.';
    throw new ApiError('invalid_request', { param: 'handle', message });
  }
  return lower;
}

/** Candidate handles for a new autopilot, best first; the last one is random enough to be free. */
export function candidateHandles(
  wanted: string | undefined,
  displayName: string,
  randomBytes: (count: number) => Uint8Array,
): string[] {
  const base = wanted === undefined ? fromName(displayName) : checkHandle(wanted);
  const numbered = [2, 3, 4, 5, 6, 7, 8, 9].map((number) => ending(base, `-${number}`));
  const random = Array.from(randomBytes(12), (byte) => alphabet[byte & 31]).join('');
  return [base, ...numbered, ending(base, `-${random}`)];
}

function ending(base: string, end: string): string {
  return base.slice(0, charsMax - end.length) + end;
}

function fromName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');
  return plain === '' ? 'autopilot' : plain;
}
