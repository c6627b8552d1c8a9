import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { Prices } from '../../../shared/money.ts';
import type { Wire } from '../inference/neutral.ts';
import type { Capabilities } from './model-traits.ts';

/**
 * How a provider's models are named and priced: makers list their own, resellers list others' under ids of the form
 * `family/name`, `compatible` and `local` servers put their own name before each model, the simulator `sim/`.
 */
export type ProviderKind = KnownProvider | 'compatible' | 'local' | 'simulator';

/** One provider as the configuration and what was detected describe it. */
export interface ProviderDescription {
  name: string;
  kind: ProviderKind;
  /** Whether the host can call it: it needs no key, or the host has one. */
  available: boolean;
  /** Why it is not available, with the remedy: `no key: set OPENAI_API_KEY`. */
  reason: string | null;
  /** Its models by their names there. `'*'` or undefined: those that are known, and any other name is forwarded. */
  models: readonly string[] | '*' | undefined;
  /** Prices that the configuration sets, by model name; `*` holds for all others. */
  prices?: Readonly<Record<string, Prices>>;
  /** What the provider itself or the configuration tells of its models, by name. */
  details?: Readonly<Record<string, ModelDetails>>;
  /** The formats it speaks; undefined for a provider with its own. */
  wires: readonly Wire[] | undefined;
  /** Tells whose list prices hold for a compatible server. */
  baseUrl?: string;
}

export interface ModelDetails {
  title?: string | undefined;
  description?: string | undefined;
  /** Unix seconds. */
  createdAt?: number | undefined;
  contextLength?: number | undefined;
  outputTokensMax?: number | undefined;
  capabilities?: Partial<Capabilities> | undefined;
  prices?: Prices | undefined;
}

/** One provider's offer to answer for one model. */
export interface Offer {
  /** The model's id in the catalog. */
  model: string;
  provider: string;
  kind: ProviderKind;
  /** The model's name there. */
  providerModel: string;
  /** Null when nobody knows. */
  prices: Prices | null;
  /** In tokens; null when nobody knows. */
  contextLength: number | null;
  outputTokensMax: number | null;
  /** Unix seconds; null when nobody knows. */
  createdAt: number | null;
  capabilities: Capabilities;
  wires: readonly Wire[] | undefined;
  available: boolean;
  reason: string | null;
  /** For people. */
  title: string;
  description: string | null;
}

/** What a model's name stands for. */
export interface Resolution {
  /** The model's id in the catalog. */
  id: string;
  /** In the order of the configuration; at least one. */
  offers: readonly Offer[];
  /** Names of models to try when no provider of this one answers, set by the configuration. */
  fallbacks: readonly string[];
}
