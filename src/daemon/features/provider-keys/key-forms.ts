import type { KnownProvider } from '../../../shared/known-providers.ts';

/** How the keys of each provider begin; the provider alone knows whether one is good. */
export const keyPrefixes: Readonly<Record<KnownProvider, readonly string[]>> = {
  openai: ['sk-'],
  anthropic: ['sk-ant-'],
  google: ['AIza', 'AQ.'],
  openrouter: ['sk-or-'],
  vercel: ['vck_'],
};

/** Visible ASCII. */
const form = /^[\x21-\x7e]{20,512}$/;

/** Why a text is no key of that provider, for people; undefined where it may be one. Never repeats the text. */
export function faultOfForm(provider: KnownProvider, key: string): string | undefined {
  const prefixes = keyPrefixes[provider];
  const expected = prefixes.map((prefix) => `\`${prefix}\``).join(' or ');
  if (!prefixes.some((prefix) => key.startsWith(prefix)))
    return `A key for ${provider} begins with ${expected}.`;
  const other = ownerOf(key);
  if (other !== provider) return `This is a key for ${other}; a key for ${provider} begins with ${expected}.`;
  if (!form.test(key)) return 'A key has 20 to 512 characters, all visible ASCII without spaces.';
  return undefined;
}

/** The provider with the longest prefix that fits: some begin with another's. */
function ownerOf(key: string): KnownProvider | undefined {
  let best: { provider: KnownProvider; length: number } | undefined;
  for (const [provider, prefixes] of Object.entries(keyPrefixes) as [KnownProvider, string[]][]) {
    for (const { length } of prefixes.filter((prefix) => key.startsWith(prefix))) {
      if (best === undefined || length > best.length) best = { provider, length };
    }
  }
  return best?.provider;
}
