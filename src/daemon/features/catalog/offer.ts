import type { KnownProvider } from '../../../shared/known-providers.ts';
import type { Prices } from '../../../shared/money/money.ts';
import type { Wire } from '../upstreams/neutral.ts';
import type { Capabilities } from './model-traits.ts';

/**
 * How a provider's models are named and priced: makers list their own, resellers list others' under ids of the form
 * `family/name`, `compatible` and `local` servers prefix each model with their own name, the simulator with `sim/`.
 */
export type ProviderKind = KnownProvider | 'compatible' | 'local' | 'simulator';

/** A provider from the configuration or detected on this machine. */
export interface ProviderDescription {
  name: string;
  kind: ProviderKind;
  /** Whether the host can call it: it needs no key, or the host has one. */
  available: boolean;
  /** Why it is not available, with the remedy: `no key: set OPENAI_API_KEY`. */
  reason: string | null;
  /** The provider's names of its models. `'*'` or undefined: the known ones, and any other name is forwarded. */
  models: readonly string[] | '*' | undefined;
  /** Configured prices by model name; `*` applies to all others. */
  prices?: Readonly<Record<string, Prices>>;
  /** Details from the provider itself or the configuration, by model name. */
  details?: Readonly<Record<string, ModelDetails>>;
  /** The formats it supports; undefined for a provider with its own format. */
  wires: readonly Wire[] | undefined;
  /** Those of one model by its name at the provider, if not every model has all. */
  wiresOf?: ((providerModel: string) => readonly Wire[]) | undefined;
  /** Determines whose list prices apply to a compatible server. */
  baseUrl?: string;
  /** Whether the host's key for it is in the vault. */
  hasSealedKey?: boolean;
  /** Set if the host has several keys for it. */
  keys?: { names: readonly string[] };
  /** How calls are distributed to several keys: each conversation to one of them, by default, or to the first that is free. */
  keyOrder?: 'first_free';
}

export interface ModelDetails {
  title?: string | undefined;
  description?: string | undefined;
  /** Unix seconds. */
  createdAt?: number | undefined;
  /** When its provider first listed it, in milliseconds since 1970; undefined for models that the configuration names. */
  listedAt?: number | undefined;
  contextLength?: number | undefined;
  outputTokensMax?: number | undefined;
  capabilities?: Partial<Capabilities> | undefined;
  prices?: Prices | undefined;
}

/** One model at one provider. */
export interface Offer {
  /** The model's id in the catalog. */
  model: string;
  provider: string;
  kind: ProviderKind;
  /** The model's name at the provider. */
  providerModel: string;
  /** Null if unknown. */
  prices: Prices | null;
  /** The price library's name of the list that they are from; undefined if the operator has set them. */
  priceSource?: string | undefined;
  /** In tokens; null if unknown. */
  contextLength: number | null;
  /** Set if only the list of some server tells the context: what a call may cost does not rest on it. */
  isContextUnsure?: true;
  outputTokensMax: number | null;
  /** Unix seconds; null if unknown. */
  createdAt: number | null;
  capabilities: Capabilities;
  wires: readonly Wire[] | undefined;
  available: boolean;
  reason: string | null;
  /** Of its provider; set if the host has several. */
  keys?: { names: readonly string[] };
  keyOrder?: 'first_free';
  /** For display. */
  title: string;
  description: string | null;
}

/** The model that a name resolves to. */
export interface Resolution {
  /** The model's id in the catalog. */
  id: string;
  /** In the order of the configuration; at least one. */
  offers: readonly Offer[];
  /** Whether the caller's name stands for several models: if this one may not be used, another one may. */
  isOneOfSeveral?: true;
}
