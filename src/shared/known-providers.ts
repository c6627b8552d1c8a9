/**
 * The providers that are known by name. Whatever has to be known of each is typed by this list, so that a name that is
 * added here does not compile until it is known everywhere. Guide: docs/changing.md, a provider.
 */
export const knownProviders = ['openai', 'anthropic', 'google', 'openrouter', 'vercel'] as const;

export type KnownProvider = (typeof knownProviders)[number];

export function isKnownProvider(name: string): name is KnownProvider {
  return (knownProviders as readonly string[]).includes(name);
}

/** What the rest of the program has to know of a provider; how it is spoken to is in `src/daemon/upstream/providers`. */
export interface ProviderFacts {
  /** The variables that the provider's own SDKs read for its key; the first one that is set counts. */
  keyVariables: readonly [string, ...string[]];
  /** How its keys begin; `''` where that tells nothing. */
  keyPrefixes: readonly [string, ...string[]];
  /** Whether its models are its own, or those of other makers. */
  models: 'own' | 'resold';
}

export const providerFacts: Readonly<Record<KnownProvider, ProviderFacts>> = {
  openai: { keyVariables: ['OPENAI_API_KEY'], keyPrefixes: ['sk-'], models: 'own' },
  anthropic: { keyVariables: ['ANTHROPIC_API_KEY'], keyPrefixes: ['sk-ant-'], models: 'own' },
  google: {
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    keyPrefixes: ['AIza', 'AQ.'],
    models: 'own',
  },
  openrouter: { keyVariables: ['OPENROUTER_API_KEY'], keyPrefixes: ['sk-or-'], models: 'resold' },
  vercel: { keyVariables: ['AI_GATEWAY_API_KEY'], keyPrefixes: ['vck_'], models: 'resold' },
};
