import type { KnownSecrets } from '../../../shared/masking/known-secrets.ts';
import { maskJsonText } from '../../../shared/masking/mask-json.ts';
import { removedText } from '../../../shared/masking/mask-text.ts';
import type { DataSealer } from './data-sealer.ts';

/**
 * Seals the secrets in JSON texts that are read again: each in its place, so that a text without secrets is stored as it is, and
 * the rest of one with secrets can still be read.
 */
export interface TextSealer {
  /** Secrets that are found are added to those that are known. */
  seal(text: string, boundTo: string, known?: KnownSecrets): string;
  /**
   * The same for what was answered: secrets of the request that it repeats are masked for good, as no model needs them, and a later
   * request could not tell that they are secret.
   */
  sealAnswer(text: string, boundTo: string, known?: KnownSecrets): string;
  /** The text as it was, apart from escapes; secrets that were sealed elsewhere stay sealed. */
  open(text: string, boundTo: string): string;
  /** The text as it is shown, without its secrets. */
  mask(text: string, known?: KnownSecrets): string;
  sealWhole(text: string, boundTo: string): string;
  /** A text that was stored before such texts were sealed is returned as it is. */
  openWhole(text: string, boundTo: string): string;
}

/** Of texts that are sealed as a whole, and of old secrets in texts. */
const prefix = 'gwx1.';
/** Of a secret in a text: a full stop ends it, as letters may follow, and nothing in its hexadecimal digits looks like a key. */
const secretPrefix = 'gwx2.';
/** At least a nonce and a tag. */
const sealedSecret = /gwx1\.([\w-]{38,})|gwx2\.([\da-f]{56,})\./g;
const mayBeSealed = (text: string) => text.includes(secretPrefix) || text.includes(prefix);
/** An address as the value of `password`, whose own password was sealed before, is sealed twice. */
const nestedMax = 8;

export function createTextSealer(sealer: DataSealer): TextSealer {
  const bound = (to: string) => `text|${to}`;
  const sealOne = (secret: string, to: string) => {
    const sealed = Buffer.from(sealer.seal(Buffer.from(secret), bound(to)), 'base64url');
    return `${secretPrefix}${sealed.toString('hex')}.`;
  };
  const openOnce = (text: string, to: string) =>
    text.replace(sealedSecret, (whole, old?: string, hex?: string) => {
      const sealed = hex === undefined ? (old as string) : Buffer.from(hex, 'hex').toString('base64url');
      return sealer.open(sealed, bound(to))?.toString() ?? whole;
    });
  return {
    seal: (text, boundTo, known) =>
      maskJsonText(text, { ...(known && { known }), mark: (secret) => sealOne(secret, boundTo) }),
    sealAnswer: (text, boundTo, known) =>
      maskJsonText(text, {
        ...(known && { known }),
        mark: (secret) => sealOne(secret, boundTo),
        markRepeated: () => removedText,
      }),
    open(text, boundTo) {
      let opened = text;
      for (let times = 0; times < nestedMax && mayBeSealed(opened); times += 1) {
        const next = openOnce(opened, boundTo);
        if (next === opened) break;
        opened = next;
      }
      return opened;
    },
    mask(text, known) {
      const shown = mayBeSealed(text) ? text.replace(sealedSecret, removedText) : text;
      return maskJsonText(shown, known && { known });
    },
    sealWhole: (text, boundTo) => prefix + sealer.seal(Buffer.from(text), bound(boundTo)),
    openWhole(text, boundTo) {
      if (!text.startsWith(prefix)) return text;
      const opened = sealer.open(text.slice(prefix.length), bound(boundTo));
      if (opened === undefined) throw new Error('a stored text cannot be decrypted');
      return opened.toString();
    },
  };
}

/** A store with some of its methods replaced. Those of a store in another thread cannot be copied. */
export function withMethods<Store extends object>(store: Store, methods: Partial<Store>): Store {
  return Object.assign(Object.create(store) as Store, methods);
}
