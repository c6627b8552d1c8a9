import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Random bytes are cheaper by the kilobyte. */
const poolBytes = 1_200;

/** Encrypts what is kept on disk. `key` is 32 bytes. */
export class Sealer {
  readonly #key: Uint8Array;
  readonly #pool = Buffer.alloc(poolBytes);
  #used = poolBytes;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(plain: Uint8Array): Buffer {
    const nonce = this.#nonce();
    const cipher = createCipheriv(algorithm, this.#key, nonce, { authTagLength: tagBytes });
    const sealed = cipher.update(plain);
    cipher.final();
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Throws if it was not sealed with this key, or was changed. */
  open(sealed: Uint8Array): Buffer {
    const opener = createDecipheriv(algorithm, this.#key, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    opener.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const plain = opener.update(sealed.subarray(nonceBytes + tagBytes));
    opener.final();
    return plain;
  }

  #nonce(): Uint8Array {
    if (this.#used === poolBytes) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    this.#used += nonceBytes;
    return this.#pool.subarray(this.#used - nonceBytes, this.#used);
  }
}
