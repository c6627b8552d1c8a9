import { createHash } from 'node:crypto';
import type { ProviderKeyCheck } from '../../../shared/contract/provider-keys.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import type { KeyOrLogin } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import type { Vault } from '../vault/index.ts';
import { managedWorkspace, type Workspaces } from '../workspaces/index.ts';
import { type KeyUse, secretName } from './key-use.ts';
import type { ProviderKeyRecord, ProviderKeysStore } from './store.ts';

export interface ProviderKeysDeps {
  store: ProviderKeysStore;
  vault: Pick<Vault, 'seal' | 'version'>;
  use: Pick<KeyUse, 'keyOf'>;
  workspaces: Pick<Workspaces, 'membership'>;
  world: Pick<World, 'now'>;
  /** Whether workspaces can have keys for a provider: not if the host replaces it by an upstream of the same name. */
  takesKeys(provider: KnownProvider): boolean;
  /** Asks the provider whether it accepts a key. */
  ask(provider: KnownProvider, key: string): Promise<Omit<ProviderKeyCheck, 'provider'>>;
}

interface KeyReference {
  workspace: string;
  provider: KnownProvider;
  /** Of a further key. */
  name?: string | undefined;
}

/** How many keys a workspace can have for a provider. */
const keysMax = 32;

/** Concurrent changes of the same key, or a rotation, make one of them retry. */
const attemptsMax = 5;

/** Workspaces' own keys for providers: managed by owners and admins, used by the workspace's calls, never shown. */
export function createProviderKeys(deps: ProviderKeysDeps) {
  const { store, use } = deps;

  const workspaceFor = (caller: KeyOrLogin, workspace: string): Promise<string> =>
    managedWorkspace(deps.workspaces, { caller, workspace, action: 'manage its provider keys' });

  return {
    /** Fails with `permission` unless the caller may manage the workspace's keys, or if it does not exist. */
    permit: workspaceFor,

    /** Fails with `permission`, also if there is no such workspace. */
    async list(caller: KeyOrLogin, workspace: string): Promise<ProviderKeyRecord[]> {
      return await store.list(await workspaceFor(caller, workspace));
    },

    /** Fails with `permission`, `invalid_request` (not a key of that provider), or `unavailable` (the vault is sealed). */
    async put(
      caller: KeyOrLogin,
      { workspace, provider, name = '', key }: KeyReference & { key: string },
    ): Promise<ProviderKeyRecord> {
      const workspaceId = await workspaceFor(caller, workspace);
      if (!deps.takesKeys(provider)) {
        const message = `On this host, ${provider} is an upstream of the configuration: workspaces cannot set their own keys for it.`;
        throw new ApiError('invalid_request', { param: 'provider', message });
      }
      const fault = keyFormatFault(provider, key);
      if (fault !== undefined) throw new ApiError('invalid_request', { param: 'key', message: fault });
      const known = (await store.list(workspaceId)).filter((record) => record.provider === provider);
      if (known.length >= keysMax && !known.some((record) => record.name === name)) {
        const message = `A workspace can have ${keysMax} keys for a provider.`;
        throw new ApiError('invalid_request', { param: 'name', message });
      }
      return await sealAndStore(deps, { workspaceId, provider, name, secret: Buffer.from(key) });
    },

    /** Does nothing if there is no such key. Fails with `permission`. */
    async delete(caller: KeyOrLogin, { workspace, provider, name = '' }: KeyReference): Promise<void> {
      const workspaceId = await workspaceFor(caller, workspace);
      await store.delete(workspaceId, provider, name);
    },

    /** Fails with `permission`, `not_found` (there is no such key), or `unavailable` (the vault is sealed). */
    async check(
      caller: KeyOrLogin,
      { workspace, provider, name = '' }: KeyReference,
    ): Promise<ProviderKeyCheck> {
      const workspaceId = await workspaceFor(caller, workspace);
      const known = await store.list(workspaceId);
      if (!known.some((record) => record.provider === provider && record.name === name)) {
        const named = name === '' ? '' : ` named ${name}`;
        const option = name === '' ? '' : ` --name ${name}`;
        throw new ApiError('not_found', {
          message: `The workspace has no key for ${provider}${named}: gateway provider-keys set ${provider}${option}`,
        });
      }
      return { provider, ...(await deps.ask(provider, await use.keyOf(workspaceId, provider, name))) };
    },
  };
}

export type ProviderKeys = ReturnType<typeof createProviderKeys>;

async function sealAndStore(
  { store, vault, world }: ProviderKeysDeps,
  {
    workspaceId,
    provider,
    name: keyName,
    secret,
  }: { workspaceId: string; provider: KnownProvider; name: string; secret: Buffer },
): Promise<ProviderKeyRecord> {
  const name = secretName(workspaceId, provider, keyName);
  const fingerprint = createHash('sha256').update(secret).digest('hex').slice(0, 12);
  try {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const version = (await vault.version(name)) + 1;
      const sealed = await vault.seal({ name, version, secret });
      const before = (await store.list(workspaceId)).find(
        (record) => record.provider === provider && record.name === keyName,
      );
      const at = world.now();
      const addedAt = before?.addedAt ?? at;
      const record = { workspaceId, provider, name: keyName, fingerprint, addedAt, updatedAt: at };
      if (await store.put(record, sealed)) return record;
    }
  } finally {
    secret.fill(0);
  }
  throw new ApiError('unavailable', { message: 'This key is being changed by another request; try again.' });
}

/** Visible ASCII. */
const form = /^[\x21-\x7e]{20,512}$/;

/** Why a text cannot be a key of the provider, as a sentence without the text; undefined if it can be one. */
export function keyFormatFault(provider: KnownProvider, key: string): string | undefined {
  const prefixes = providerFacts[provider].keyPrefixes;
  const own = prefixLength(provider, key);
  const expected = `key for ${provider} starts with ${inWords(prefixes.map((prefix) => `\`${prefix}\``))}.`;
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
