import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto';
import type { SealedSecret } from './vault-store.ts';

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
 * Envelopes: a secret is sealed by AES-256-GCM under a key of its own that is used this once, and that key under the
 * master. Both are bound to what the secret is for and to its version, so that a row that is copied elsewhere, or an old
 * one that is put back, does not open.
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

/** Undefined when this master, name or version is not the one it was sealed for, or it was damaged. */
export function openSecret(master: Master, secret: SealedSecret): Buffer | undefined {
  const bound = boundTo(secret.name, secret.version);
  const own = decrypt(master.key, secret.wrappedKey, bound);
  if (own === undefined) return undefined;
  const opened = decrypt(own, secret.sealed, bound);
  own.fill(0);
  return opened;
}

/** The same secret under another master; undefined when `from` does not open it. */
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

/** A text that tells, without a secret, whether a key is this master. */
export function proofOf(master: Master, randomBytes: RandomBytes): string {
  return encrypt(master.key, Buffer.from(proofText), `gateway|check|${master.kid}`, randomBytes);
}

export function isProvedBy({ kid, proof }: { kid: string; proof: string }, key: Uint8Array): boolean {
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

/** Undefined when it is not from `encrypt` with the same key and binding. */
export function decrypt(key: Uint8Array, text: string, bound: string): Buffer | undefined {
  const body = Buffer.from(text, 'base64url');
  if (body.length < nonceBytes + tagBytes || key.length !== keyBytes) return undefined;
  try {
    // Without the length, a shorter and weaker tag would be accepted.
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
