/** Facts about a provider; how to call it is in `src/daemon/upstream/providers/registry.ts`. */
export interface ProviderFacts {
  /** The variables that the provider's own SDKs read for its key; the first one that is set is used. */
  keyVariables: readonly [string, ...string[]];
  /** How its keys start; `''` if they have no known prefix. */
  keyPrefixes: readonly [string, ...string[]];
  /** Whether it serves its own models or resells those of others. */
  models: 'own' | 'resold';
  /** Its name in the price library, if prices depend on the provider and not on the maker of the model. */
  priceSource?: string;
}

/**
 * The providers that are known by name. Everything else about a provider is typed by this table: a name added here does
 * not compile until its API is registered. Guide: docs/changing.md, "A provider".
 */
const facts = {
  openai: { keyVariables: ['OPENAI_API_KEY'], keyPrefixes: ['sk-'], models: 'own' },
  anthropic: { keyVariables: ['ANTHROPIC_API_KEY'], keyPrefixes: ['sk-ant-'], models: 'own' },
  google: {
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    keyPrefixes: ['AIza', 'AQ.'],
    models: 'own',
  },
  openrouter: {
    keyVariables: ['OPENROUTER_API_KEY'],
    keyPrefixes: ['sk-or-'],
    models: 'resold',
    priceSource: 'openrouter',
  },
  vercel: { keyVariables: ['AI_GATEWAY_API_KEY'], keyPrefixes: ['vck_'], models: 'resold' },
} as const satisfies Record<string, ProviderFacts>;

export type KnownProvider = keyof typeof facts;

export const providerFacts: Readonly<Record<KnownProvider, ProviderFacts>> = facts;

export const knownProviders = Object.keys(facts) as KnownProvider[];

export function isKnownProvider(name: string): name is KnownProvider {
  return Object.hasOwn(facts, name);
}

/** The model servers that are detected on this machine. */
export const localServerNames = ['ollama', 'lmstudio', 'llamacpp', 'vllm'] as const;

export type LocalServerName = (typeof localServerNames)[number];
