import { type Static, Type } from 'typebox';
import { knownProviders } from '../known-providers.ts';
import { endpoint } from './endpoint.ts';
import { deleted, listOf, nullable, StrictObject, Timestamp, WorkspaceReference } from './vocabulary.ts';

const Provider = Type.Enum([...knownProviders], { description: 'The provider the key belongs to.' });

/** A workspace's provider key, without the key itself. */
export const ProviderKey = Type.Object(
  {
    provider: Provider,
    name: nullable(Type.String({ description: 'Of a further key; null for the one without a name.' })),
    fingerprint: Type.String({
      pattern: '^[0-9a-f]{12}$',
      description: 'The first 12 hex digits of the key’s SHA-256.',
    }),
    added_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'ProviderKey', description: 'A workspace’s provider key, without the key itself.' },
);

/** The result of checking a key with its provider. */
export const ProviderKeyCheck = Type.Object(
  {
    provider: Provider,
    result: Type.Enum(['good', 'refused', 'unreachable'], {
      description: '`unreachable`: the provider could not be asked; the key may be valid.',
    }),
    message: Type.String({ description: 'The reason for the result, for people.' }),
  },
  { $id: 'ProviderKeyCheck' },
);

const access = { apiKey: 'workspace', login: 'admin' } as const;
const at = Type.Object({ workspace: WorkspaceReference });
const one = Type.Object({ workspace: WorkspaceReference, provider: Provider });
const named = Type.Object({
  ...one.properties,
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9_-]{0,39}$',
    description: 'The name of a further key: lowercase letters, digits, `_` and `-`, at most 40.',
  }),
});

const NewKey = StrictObject({
  key: Type.String({
    pattern: '^[!-~]{20,512}$',
    description: 'The key as issued by the provider: 20 to 512 visible ASCII characters, without spaces.',
  }),
});

export const listProviderKeys = endpoint({
  id: 'listProviderKeys',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/provider-keys',
  summary: 'List provider keys.',
  description:
    'Providers and fingerprints, all on one page. For the workspace’s owner and admins, and keys they issued.',
  tag: 'Provider keys',
  access,
  params: at,
  result: listOf(ProviderKey),
});

/** Stores or replaces a workspace's key for a provider. */
export const putProviderKey = endpoint({
  id: 'putProviderKey',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
  summary: 'Set a provider key.',
  description:
    'The key is stored sealed, replaces the previous one, and is never shown again. Calls use it with `service.pay: "mine"`, and for providers the host has no account with.',
  tag: 'Provider keys',
  access,
  params: one,
  body: NewKey,
  result: ProviderKey,
});

export const putNamedProviderKey = endpoint({
  id: 'putNamedProviderKey',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/{name}',
  summary: 'Set a further provider key.',
  description:
    'Calls are distributed to all keys of the workspace for the provider, and each is benched alone. Otherwise as the key without a name, which need not exist.',
  tag: 'Provider keys',
  access,
  params: named,
  body: NewKey,
  result: ProviderKey,
});

export const deleteNamedProviderKey = endpoint({
  id: 'deleteNamedProviderKey',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/{name}',
  summary: 'Delete a further provider key.',
  tag: 'Provider keys',
  access,
  params: named,
  result: deleted('provider_key'),
});

export const checkNamedProviderKey = endpoint({
  id: 'checkNamedProviderKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/{name}/check',
  summary: 'Check a further provider key.',
  description: 'Asks the provider, with one free call, whether it accepts the key.',
  tag: 'Provider keys',
  access,
  params: named,
  result: ProviderKeyCheck,
});

export const deleteProviderKey = endpoint({
  id: 'deleteProviderKey',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
  summary: 'Delete a provider key.',
  description: 'The one without a name; further ones stay.',
  tag: 'Provider keys',
  access,
  params: one,
  result: deleted('provider_key'),
});

export const checkProviderKey = endpoint({
  id: 'checkProviderKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/check',
  summary: 'Check a provider key.',
  description: 'Asks the provider, with one free call, whether it accepts the key.',
  tag: 'Provider keys',
  access,
  params: one,
  result: ProviderKeyCheck,
});

export type ProviderKey = Static<typeof ProviderKey>;
export type ProviderKeyCheck = Static<typeof ProviderKeyCheck>;
