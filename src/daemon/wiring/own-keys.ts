import { ApiError } from '../../shared/errors.ts';
import { isKnownProvider } from '../../shared/known-providers.ts';
import type { Feature } from '../base/feature.ts';
import {
  createProviderKeys,
  HostKeys,
  KeyUse,
  providerKeyHandlers,
} from '../features/provider-keys/index.ts';
import type { Provider, ProviderSet } from '../features/providers/index.ts';
import { accountOf, type Health } from '../features/routing/index.ts';
import { Vault, vaultHandlers } from '../features/vault/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { CallAppDeps } from './app-deps.ts';

interface OwnKeysFeatures {
  workspaces: Pick<Workspaces, 'membership'>;
  health: Pick<Health, 'forgive'>;
  providers: Pick<ProviderSet, 'byName' | 'showSealedKeys'>;
}

export interface OwnKeys extends Feature {
  vault: Vault;
  /** The host's keys in the vault. */
  hostKeys: HostKeys;
  /** The host's key for a provider, if it is in the vault. Fails with `unavailable` while that is sealed. */
  sealedKeyOf(provider: Provider): Promise<string | undefined>;
  /** Providers for which a workspace has its own keys. */
  ownKeysOf: KeyUse['providersOf'];
  ownKeyNamesOf: KeyUse['namesOf'];
  /** The provider key for a route. Fails with `unavailable` while the vault is sealed. */
  keyFor(route: {
    provider: string;
    ownKey: boolean;
    workspaceId: string;
    key?: string | undefined;
  }): string | undefined | Promise<string>;
}

/** Joins the vault, the provider keys that workspaces sealed in it, and their use in model calls. */
export function createOwnKeys(
  deps: CallAppDeps,
  { workspaces, health, providers: set }: OwnKeysFeatures,
): OwnKeys {
  const { byName: providers } = set;
  const { storage, world, log } = deps;
  const vault = new Vault({ store: storage.vault, changes: storage.changes, world, log, ...deps.vault });
  const use = new KeyUse({ store: storage.providerKeys, changes: storage.changes, vault, world });
  const onChange = (names: ReadonlySet<string>) => set.showSealedKeys(names);
  const hostKeys = new HostKeys({ vault, changes: storage.changes, world, onChange });
  const hostAccountOf = ({ upstream: { name }, access }: Provider) => ({
    name,
    baseUrl: access?.baseUrl ?? '',
  });
  // An upstream that has the name of a known provider is another server, which must not get keys for that provider.
  const takesKeys = (provider: string) => providers.get(provider)?.description.kind === provider;
  const usable = (names: ReadonlySet<string>): ReadonlySet<string> =>
    [...names].every(takesKeys) ? names : new Set([...names].filter(takesKeys));
  storage.changes.subscribe('provider_key', ({ workspaceId, provider, name }) =>
    health.forgive(accountOf(provider, { workspaceId, ...(name !== '' && { key: name }) })),
  );
  const keys = createProviderKeys({
    store: storage.providerKeys,
    vault,
    use,
    workspaces,
    world,
    takesKeys,
    async ask(provider, key) {
      const checkKey = providers.get(provider)?.checkKey;
      if (checkKey === undefined)
        throw new ApiError('not_found', { message: `Keys for ${provider} cannot be checked.` });
      return await checkKey(key);
    },
  });
  return {
    vault,
    hostKeys,
    sealedKeyOf: async (provider) =>
      provider.description.hasSealedKey ? await hostKeys.keyOf(hostAccountOf(provider)) : undefined,
    load: () => hostKeys.load(),
    handlers: [...providerKeyHandlers(keys), ...vaultHandlers({ vault })],
    ownKeysOf(workspaceId) {
      const names = use.providersOf(workspaceId);
      return names instanceof Promise ? names.then(usable) : usable(names);
    },
    ownKeyNamesOf: (workspaceId, provider) => use.namesOf(workspaceId, provider),
    keyFor({ provider, ownKey, workspaceId, key }) {
      if (!ownKey) {
        const known = providers.get(provider);
        if (known?.description.hasSealedKey) return hostKeys.keyOf(hostAccountOf(known));
        // A key that is gone since the call was planned has another one in its place.
        return (key !== undefined && known?.keys?.get(key)) || known?.key;
      }
      if (!isKnownProvider(provider) || !takesKeys(provider))
        throw new Error(`workspaces cannot have their own keys for ${provider}`);
      return use.keyOf(workspaceId, provider, key);
    },
    jobs: [
      (signal, onFailure) => vault.keepOpen(signal).catch(onFailure),
      (signal, onFailure) => use.keepExpiring(signal, onFailure, hostKeys),
    ],
  };
}
