/**
 * The providers that are known by name. Whatever has to be known of each is typed by this list, so that a name that is
 * added here does not compile until it is known everywhere. Guide: docs/changing.md, a provider.
 */
export const knownProviders = ['openai', 'anthropic', 'google', 'openrouter', 'vercel'] as const;

export type KnownProvider = (typeof knownProviders)[number];

export function isKnownProvider(name: string): name is KnownProvider {
  return (knownProviders as readonly string[]).includes(name);
}
