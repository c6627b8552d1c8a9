import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto';
import type { SealedSecret } from './store.ts';

/** A master key: 32 bytes. */
export interface Master {
  kid: string;
  key: Uint8Array;
}

type RandomBytes = (count: number) => Uint8Array;

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const proofText = 'gateway vault';

/**
 * Envelope encryption: AES-256-GCM seals a secret with its own single-use key, and that key with the master. Both are bound
 * to the secret's name and version, so that a copied row, or an old one that is restored, cannot be decrypted.
 */
export function sealSecret(
  master: Master,
  { name, version, secret }: { name: string; version: number; secret: Uint8Array },
  randomBytes: RandomBytes,
): SealedSecret {
  const bound = boundTo(name, version);
  const own = Buffer.from(randomBytes(keyBytes));
  const sealed = encrypt(own, secret, bound, randomBytes);
  const wrappedKey = encrypt(master.key, own, bound, randomBytes);
  own.fill(0);
  return { name, version, kid: master.kid, wrappedKey, sealed };
}

/** Undefined for a wrong master, name or version, or damaged data. */
export function openSecret(master: Master, secret: SealedSecret): Buffer | undefined {
  const bound = boundTo(secret.name, secret.version);
  const own = decrypt(master.key, secret.wrappedKey, bound);
  if (own === undefined) return undefined;
  const opened = decrypt(own, secret.sealed, bound);
  own.fill(0);
  return opened;
}

/** Reseals a secret's key with another master; undefined if `from` cannot decrypt it. */
export function rewrapSecret(
  { from, to }: { from: Master; to: Master },
  secret: SealedSecret,
  randomBytes: RandomBytes,
): SealedSecret | undefined {
  const bound = boundTo(secret.name, secret.version);
  const own = decrypt(from.key, secret.wrappedKey, bound);
  if (own === undefined) return undefined;
  const wrappedKey = encrypt(to.key, own, bound, randomBytes);
  own.fill(0);
  return { ...secret, kid: to.kid, wrappedKey };
}

/** A text by which a key can be checked against this master. */
export function proofOf(master: Master, randomBytes: RandomBytes): string {
  return encrypt(master.key, Buffer.from(proofText), `gateway|check|${master.kid}`, randomBytes);
}

export function isProvenBy({ kid, proof }: { kid: string; proof: string }, key: Uint8Array): boolean {
  const opened = decrypt(key, proof, `gateway|check|${kid}`);
  const expected = Buffer.from(proofText);
  return opened?.length === expected.length && timingSafeEqual(opened, expected);
}

/** base64url of nonce, ciphertext and tag. */
export function encrypt(key: Uint8Array, plain: Uint8Array, bound: string, randomBytes: RandomBytes): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(bound));
  const body = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(body).toString('base64url');
}

/** Undefined unless the text is from `encrypt` with the same key and binding. */
export function decrypt(key: Uint8Array, text: string, bound: string): Buffer | undefined {
  const body = Buffer.from(text, 'base64url');
  if (body.length < nonceBytes + tagBytes || key.length !== keyBytes) return undefined;
  try {
    // Without the length, shorter and weaker tags would be accepted.
    const opener = createDecipheriv('aes-256-gcm', key, body.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    opener.setAAD(Buffer.from(bound));
    opener.setAuthTag(body.subarray(-tagBytes));
    return Buffer.concat([opener.update(body.subarray(nonceBytes, -tagBytes)), opener.final()]);
  } catch {
    return undefined;
  }
}

function boundTo(name: string, version: number): string {
  return `v1|${name}|${version}`;
}

/** Parses a master key: 64 hex digits, or 32 bytes in base64 of either alphabet. */
export function parseMasterKey(text: string): Uint8Array | undefined {
  const written = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(written)) return Buffer.from(written, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(written)) return undefined;
  const key = Buffer.from(written, 'base64');
  return key.length === keyBytes ? key : undefined;
}
