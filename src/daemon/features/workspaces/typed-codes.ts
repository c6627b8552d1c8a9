/** The alphabet of codes that people type: Crockford's base 32, which has no ambiguous characters. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groupChars = 5;

/** Generates a code with 25 random bits per group: `7K3QM-9XWZ2`. */
export function generateCode(groups: number, randomBytes: (count: number) => Uint8Array): string {
  const letters = Array.from(randomBytes(groups * groupChars), (byte) => alphabet[byte & 31]).join('');
  return (letters.match(/.{5}/g) ?? []).join('-');
}

/** Normalises a typed code: no dashes and spaces, upper case, and digits for O, I and L. */
export function normaliseCode(typed: string): string {
  return typed
    .replace(/[\s-]+/g, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
}
