/**
 * Codes that people type or paste: letters and digits that cannot be mistaken for one another, in groups of five.
 * Source of the alphabet, and of how it is read back: Crockford's base 32.
 */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const groupChars = 5;

/** Makes a code of 25 random bits a group: `7K3QM-9XWZ2`. */
export function makeCode(groups: number, randomBytes: (count: number) => Uint8Array): string {
  const letters = Array.from(randomBytes(groups * groupChars), (byte) => alphabet[byte & 31]).join('');
  return (letters.match(/.{5}/g) ?? []).join('-');
}

/** The code as it is compared: without dashes and spaces, in upper case, with O, I and L as the digits they look like. */
export function readCode(typed: string): string {
  return typed
    .replace(/[\s-]+/g, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
}
