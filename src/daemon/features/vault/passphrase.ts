import { scrypt } from 'node:crypto';
import { decrypt, encrypt, keyBytes, type Master } from './sealing-scheme.ts';

const saltBytes = 16;
/** About 128 MiB and a third of a second per guess: one step above the scrypt paper's advice. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 192 * 1024 * 1024 };

/** Encrypts the master key with a passphrase: base64url of the salt, a dot, and the encrypted key. */
export async function wrapByPassphrase(
  { kid, key }: Master,
  passphrase: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<string> {
  const salt = Buffer.from(randomBytes(saltBytes));
  const wrapping = await derive(passphrase, salt);
  const wrapped = encrypt(wrapping, key, boundTo(kid), randomBytes);
  wrapping.fill(0);
  return `${salt.toString('base64url')}.${wrapped}`;
}

/** Undefined for a wrong passphrase. */
export async function unwrapByPassphrase(
  { kid, wrapped }: { kid: string; wrapped: string },
  passphrase: string,
): Promise<Uint8Array | undefined> {
  const [salt = '', body = ''] = wrapped.split('.');
  const wrapping = await derive(passphrase, Buffer.from(salt, 'base64url'));
  const key = decrypt(wrapping, body, boundTo(kid));
  wrapping.fill(0);
  return key;
}

/** Normalises the passphrase, since keyboards encode the same letters differently. */
function derive(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFKC'), salt, keyBytes, cost, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

function boundTo(kid: string): string {
  return `gateway|master|${kid}`;
}
