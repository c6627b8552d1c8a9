import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';

/** Visible ASCII. */
const form = /^[\x21-\x7e]{20,512}$/;

/** Why a text cannot be a key of the provider, as a sentence without the text; undefined if it can be one. */
export function keyFormatFault(provider: KnownProvider, key: string): string | undefined {
  const prefixes = providerFacts[provider].keyPrefixes;
  const own = prefixLength(provider, key);
  const expected = `key for ${provider} starts with ${prefixes.map((prefix) => `\`${prefix}\``).join(' or ')}.`;
  if (own === undefined) return `A ${expected}`;
  // Some prefixes start with another provider's.
  const other = knownProviders.find((each) => (prefixLength(each, key) ?? 0) > own);
  if (other !== undefined) return `This is a key for ${other}${own > 0 ? `; a ${expected}` : '.'}`;
  if (!form.test(key)) return 'A key must be 20 to 512 visible ASCII characters without spaces.';
  return undefined;
}

/** The length of the longest matching prefix of the provider's keys; undefined if none matches. */
function prefixLength(provider: KnownProvider, key: string): number | undefined {
  const fitting = providerFacts[provider].keyPrefixes.filter((prefix) => key.startsWith(prefix));
  return fitting.length === 0 ? undefined : Math.max(...fitting.map(({ length }) => length));
}
