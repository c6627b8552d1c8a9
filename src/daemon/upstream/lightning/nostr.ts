import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';

/** An event of Nostr (NIP-01). Keys, ids and signatures are in hexadecimal. */
export interface NostrEvent {
  id: string;
  pubkey: string;
  /** Seconds since 1970. */
  created_at: number;
  kind: number;
  tags: string[][];
  content: string;
  sig: string;
}

/** The public key of a secret one. */
export function publicKeyOf(secretKey: Uint8Array): string {
  return hex(schnorr.getPublicKey(secretKey));
}

export function signEvent(
  event: Pick<NostrEvent, 'created_at' | 'kind' | 'tags' | 'content'>,
  secretKey: Uint8Array,
): NostrEvent {
  const pubkey = publicKeyOf(secretKey);
  const id = idOf({ ...event, pubkey });
  return { ...event, id, pubkey, sig: hex(schnorr.sign(Buffer.from(id, 'hex'), secretKey)) };
}

/** Whether a value is an event that its author signed. What they signed may still have any form. */
export function isAuthentic(event: NostrEvent): boolean {
  if (!hasForm(event)) return false;
  try {
    const bytes = (text: string) => Buffer.from(text, 'hex');
    return idOf(event) === event.id && schnorr.verify(bytes(event.sig), bytes(event.id), bytes(event.pubkey));
  } catch {
    return false;
  }
}

function hasForm({ kind, tags, content }: Record<keyof NostrEvent, unknown>): boolean {
  const isTag = (tag: unknown) => Array.isArray(tag) && tag.every((part) => typeof part === 'string');
  return typeof kind === 'number' && typeof content === 'string' && Array.isArray(tags) && tags.every(isTag);
}

function idOf({ pubkey, created_at, kind, tags, content }: Omit<NostrEvent, 'id' | 'sig'>): string {
  const text = JSON.stringify([0, pubkey, created_at, kind, tags, content]);
  return createHash('sha256').update(text).digest('hex');
}

/** How two keys encrypt messages to each other. `decrypt` throws for a message that is damaged or of another key. */
export interface Encryption {
  encrypt(text: string): string;
  decrypt(message: string): string;
}

type RandomBytes = (count: number) => Uint8Array;

const version = 2;
const nonceBytes = 32;
const macBytes = 32;
/** Longer texts need the extended length, which wallets do not send. */
const textBytesMax = 65_535;

/** NIP-44, version 2: ChaCha20 and HMAC-SHA256, with keys derived from a nonce per message. */
export function nip44(secretKey: Uint8Array, publicKey: string, randomBytes: RandomBytes): Encryption {
  const shared = createHmac('sha256', 'nip44-v2').update(sharedPoint(secretKey, publicKey)).digest();
  const keysFor = (nonce: Uint8Array) => {
    const bytes = expand(shared, nonce, 76);
    // OpenSSL's nonce starts with the block counter.
    const iv = Buffer.concat([Buffer.alloc(4), bytes.subarray(32, 44)]);
    return { key: bytes.subarray(0, 32), iv, macKey: bytes.subarray(44, 76) };
  };
  const macOf = (macKey: Uint8Array, nonce: Uint8Array, sealed: Uint8Array) =>
    createHmac('sha256', macKey).update(nonce).update(sealed).digest();
  return {
    encrypt(text) {
      const nonce = randomBytes(nonceBytes);
      const { key, iv, macKey } = keysFor(nonce);
      const sealed = createCipheriv('chacha20', key, iv).update(padded(text));
      const mac = macOf(macKey, nonce, sealed);
      return Buffer.concat([Buffer.of(version), nonce, sealed, mac]).toString('base64');
    },
    decrypt(message) {
      const bytes = Buffer.from(message, 'base64');
      if (bytes[0] !== version || bytes.length < 1 + nonceBytes + 34 + macBytes)
        throw new Error('the message is not encrypted by NIP-44, version 2');
      const nonce = bytes.subarray(1, 1 + nonceBytes);
      const sealed = bytes.subarray(1 + nonceBytes, -macBytes);
      const { key, iv, macKey } = keysFor(nonce);
      if (!timingSafeEqual(macOf(macKey, nonce, sealed), bytes.subarray(-macBytes)))
        throw new Error('the message was changed, or is for another key');
      return unpadded(createDecipheriv('chacha20', key, iv).update(sealed));
    },
  };
}

/** NIP-04, for wallets that know no other: AES-256-CBC without authentication; the event's signature covers it. */
export function nip04(secretKey: Uint8Array, publicKey: string, randomBytes: RandomBytes): Encryption {
  const key = sharedPoint(secretKey, publicKey);
  return {
    encrypt(text) {
      const iv = randomBytes(16);
      const cipher = createCipheriv('aes-256-cbc', key, iv);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${sealed.toString('base64')}?iv=${Buffer.from(iv).toString('base64')}`;
    },
    decrypt(message) {
      const [sealed = '', iv = ''] = message.split('?iv=');
      const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'));
      return Buffer.concat([decipher.update(sealed, 'base64'), decipher.final()]).toString('utf8');
    },
  };
}

/** The first coordinate of the point that both keys can compute. */
function sharedPoint(secretKey: Uint8Array, publicKey: string): Uint8Array {
  return secp256k1.getSharedSecret(secretKey, Buffer.from(`02${publicKey}`, 'hex')).subarray(1, 33);
}

/** HKDF-Expand with SHA-256 (RFC 5869). */
function expand(key: Uint8Array, info: Uint8Array, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 1; blocks.length * 32 < length; at += 1) {
    const previous = blocks.at(-1) ?? Buffer.alloc(0);
    blocks.push(createHmac('sha256', key).update(previous).update(info).update(Buffer.of(at)).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** The length and the text, padded with zeros so that its length is hidden. */
function padded(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length < 1 || bytes.length > textBytesMax) throw new RangeError('the text is too long');
  const out = Buffer.alloc(2 + paddedLength(bytes.length));
  out.writeUInt16BE(bytes.length);
  bytes.copy(out, 2);
  return out;
}

function unpadded(bytes: Buffer): string {
  const length = bytes.readUInt16BE(0);
  if (length < 1 || bytes.length !== 2 + paddedLength(length)) throw new Error('the padding is wrong');
  return bytes.toString('utf8', 2, 2 + length);
}

function paddedLength(length: number): number {
  if (length <= 32) return 32;
  const nextPower = 2 ** (Math.floor(Math.log2(length - 1)) + 1);
  const chunk = nextPower <= 256 ? 32 : nextPower / 8;
  return chunk * (Math.floor((length - 1) / chunk) + 1);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
