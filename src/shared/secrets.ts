/**
 * The format of every secret the service issues: a prefix for the kind, 32 random base62 characters, and the CRC32 of
 * both as 6 base62 characters. Typos are detected without a lookup, and scanners recognise a leak by
 * `gw[klta]_[0-9A-Za-z]{38}`.
 */
const secretPrefixes = { api: 'gwk_', login: 'gwl_', token: 'gwt_', agent: 'gwa_' } as const;

export type SecretKind = keyof typeof secretPrefixes;

const kinds = Object.keys(secretPrefixes) as SecretKind[];
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomChars = 32;
const checksumChars = 6;
const prefixChars = 4;
/** Length in characters, all ASCII. */
export const secretLength = prefixChars + randomChars + checksumChars;

// 248 is the largest multiple of 62 in a byte: using bytes above it would bias the first characters.
const unbiasedBelow = 248;

/** Generates a secret with 190 random bits; `randomBytes` must be cryptographically secure. */
export function makeSecret(kind: SecretKind, randomBytes: (count: number) => Uint8Array): string {
  let text: string = secretPrefixes[kind];
  while (text.length < prefixChars + randomChars) {
    for (const byte of randomBytes(prefixChars + randomChars - text.length)) {
      if (byte < unbiasedBelow) text += alphabet[byte % alphabet.length];
    }
  }
  return text + checksumOf(text);
}

/** The kind of a well-formed secret; undefined if the format or checksum is wrong. */
export function parseSecret(text: string): SecretKind | undefined {
  if (text.length !== secretLength) return undefined;
  const kind = kinds.find((candidate) => text.startsWith(secretPrefixes[candidate]));
  if (kind === undefined || !/^[0-9A-Za-z]+$/.test(text.slice(prefixChars))) return undefined;
  return text.endsWith(checksumOf(text.slice(0, -checksumChars))) ? kind : undefined;
}

/** The displayable form of a secret: `gwk_aB3d…x9Zk`. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, prefixChars + 4)}…${secret.slice(-4)}`;
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let encoded = '';
  for (let i = 0; i < checksumChars; i += 1) {
    encoded = alphabet[rest % alphabet.length] + encoded;
    rest = Math.floor(rest / alphabet.length);
  }
  return encoded;
}

/** One step of the reflected CRC-32 of ISO 3309 for each byte value. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** CRC-32 of ASCII text, as zip and PNG compute it. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i += 1) {
    crc = (crcTable[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
