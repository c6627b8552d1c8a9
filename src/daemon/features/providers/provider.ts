import type { ProviderKeyCheck } from '../../../shared/contract/provider-keys.ts';
import type { CheckedProvider } from '../../../shared/contract/providers.ts';
import type { ListedModel, ProviderDescription } from '../catalog/index.ts';
import type { AskNative } from '../decisions/index.ts';
import type { Upstream } from '../upstreams/upstream.ts';

/** What came of checking a key with its provider; contains neither the key nor the provider's own text. */
export type KeyVerdict = Omit<ProviderKeyCheck, 'provider'>;

/** What came of asking a provider for something free. Texts are for the host's owner; they contain no key. */
export type ProviderCheck = Omit<CheckedProvider, 'provider' | 'key' | 'ended'>;

/** How the bodies sent to a provider are changed. Paths are names of members with dots. */
export interface BodyEdits {
  /** Left out, also within each element of arrays. */
  drop?: readonly string[] | undefined;
  /** Moved to another path; within objects only. */
  rename?: Readonly<Record<string, string>> | undefined;
}

/** One provider as the rest of the daemon sees it. */
export interface Provider {
  description: ProviderDescription;
  upstream: Upstream;
  /** The host's key, the first of several; undefined for none. */
  key: string | undefined;
  /** The host's keys by name, where it has several. */
  keys?: ReadonlyMap<string, string>;
  /** Checks a key with the provider; only for providers that workspaces can have their own keys for. */
  checkKey?: (key: string) => Promise<KeyVerdict>;
  /** Asks the provider's decision endpoint; undefined for providers that have none. */
  askNative?: AskNative;
  /** Where it is, and the variable of its key; both undefined if there is none. */
  access?: { baseUrl: string; keyVariable: string | undefined };
  /** Whether it can be called with a key of the vault; undefined if it takes none. */
  withSealedKey?: Pick<ProviderDescription, 'available' | 'reason'>;
  /** The same without such a key, if it has one. */
  withoutSealedKey?: Pick<ProviderDescription, 'available' | 'reason'>;
  edits?: BodyEdits;
  /** Asks it whether it answers and accepts the host's key, or another one; undefined for what runs in the daemon itself. */
  check?: (key?: string) => Promise<ProviderCheck>;
  /** Lists the provider's models with the host's key; undefined if the configuration names them all. */
  listModels?: (sealedKey?: string) => Promise<ListedModel[]>;
}
