import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';

/** Visible ASCII. */
const form = /^[\x21-\x7e]{20,512}$/;

/** Why a text is no key of that provider, for people; undefined where it may be one. Never repeats the text. */
export function faultOfForm(provider: KnownProvider, key: string): string | undefined {
  const prefixes = providerFacts[provider].keyPrefixes;
  const own = fittingLength(provider, key);
  const expected = `key for ${provider} begins with ${prefixes.map((prefix) => `\`${prefix}\``).join(' or ')}.`;
  if (own === undefined) return `A ${expected}`;
  // Some prefixes begin with another's.
  const other = knownProviders.find((each) => (fittingLength(each, key) ?? 0) > own);
  if (other !== undefined) return `This is a key for ${other}${own > 0 ? `; a ${expected}` : '.'}`;
  if (!form.test(key)) return 'A key has 20 to 512 characters, all visible ASCII without spaces.';
  return undefined;
}

/** The length of the longest prefix of that provider's keys that fits; undefined where none does. */
function fittingLength(provider: KnownProvider, key: string): number | undefined {
  const fitting = providerFacts[provider].keyPrefixes.filter((prefix) => key.startsWith(prefix));
  return fitting.length === 0 ? undefined : Math.max(...fitting.map(({ length }) => length));
}
