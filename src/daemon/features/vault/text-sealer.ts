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

const prefix = 'gwx1.';
/** base64url of at least a nonce and a tag. */
const sealed = /\bgwx1\.([\w-]{38,})/g;

export function createTextSealer(sealer: DataSealer): TextSealer {
  const bound = (to: string) => `text|${to}`;
  const sealOne = (secret: string, to: string) => prefix + sealer.seal(Buffer.from(secret), bound(to));
  return {
    seal: (text, boundTo, known) =>
      maskJsonText(text, { ...(known && { known }), mark: (secret) => sealOne(secret, boundTo) }),
    sealAnswer: (text, boundTo, known) =>
      maskJsonText(text, {
        ...(known && { known }),
        mark: (secret) => sealOne(secret, boundTo),
        markRepeated: () => removedText,
      }),
    open: (text, boundTo) =>
      text.includes(prefix)
        ? text.replace(sealed, (whole, one: string) => sealer.open(one, bound(boundTo))?.toString() ?? whole)
        : text,
    mask(text, known) {
      const shown = text.includes(prefix) ? text.replace(sealed, removedText) : text;
      return maskJsonText(shown, known && { known });
    },
    sealWhole: sealOne,
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
