import { bech32 } from '@scure/base';

/** Longer ones are not read. */
const charactersMax = 2000;

/** The text in an LNURL (LUD-01); undefined for anything else. */
export function decodeLnurl(text: string): string | undefined {
  const decoded = bech32.decodeUnsafe(text, charactersMax);
  if (decoded?.prefix !== 'lnurl') return undefined;
  const bytes = bech32.fromWordsUnsafe(decoded.words);
  return bytes ? Buffer.from(bytes).toString('utf8') : undefined;
}
