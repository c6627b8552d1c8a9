import { type Static, Type } from 'typebox';
import { knownProviders } from '../known-providers.ts';
import { endpoint } from './endpoint.ts';
import { deleted, Timestamp, WorkspaceReference } from './vocabulary.ts';

const Provider = Type.Enum([...knownProviders], { description: 'The provider that the key is for.' });

/** A workspace's own key for a provider, never with the key itself. */
export const ProviderKey = Type.Object(
  {
    provider: Provider,
    fingerprint: Type.String({
      pattern: '^[0-9a-f]{12}$',
      description: 'The first 12 hex digits of SHA-256 over the key.',
    }),
    added_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'ProviderKey', description: 'A workspace’s own key for a provider, never with the key itself.' },
);

/** What the provider said of a key. */
export const ProviderKeyCheck = Type.Object(
  {
    provider: Provider,
    result: Type.Enum(['good', 'refused', 'unreachable'], {
      description: '`unreachable`: the provider did not say; the key may be good.',
    }),
    message: Type.String({ description: 'What the result rests on, for people.' }),
  },
  { $id: 'ProviderKeyCheck' },
);

const access = { apiKey: 'workspace', login: 'admin' } as const;
const at = Type.Object({ workspace: WorkspaceReference });
const one = Type.Object({ workspace: WorkspaceReference, provider: Provider });

/** Lists the providers that a workspace has keys of its own for. */
export const listProviderKeys = endpoint({
  id: 'listProviderKeys',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/provider-keys',
  summary: 'List own provider keys.',
  description:
    'As provider and fingerprint. For the workspace’s owner and admins, and keys that they issued.',
  tag: 'Provider keys',
  access,
  surface: 'v1',
  params: at,
  result: Type.Object({ object: Type.Literal('list'), data: Type.Array(ProviderKey) }),
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'invalid_request'],
});

/** Stores a workspace's own key for a provider, or puts another in its place. */
export const putProviderKey = endpoint({
  id: 'putProviderKey',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
  summary: 'Set an own provider key.',
  description:
    'It is stored sealed, replaces the one before, and is never shown again. Calls use it with `service.pay: "mine"`, and where the host has no account of its own with the provider.',
  tag: 'Provider keys',
  access,
  surface: 'v1',
  params: one,
  body: Type.Object(
    { key: Type.String({ minLength: 1, maxLength: 1024, description: 'As the provider issued it.' }) },
    { additionalProperties: false },
  ),
  result: ProviderKey,
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'not_found', 'invalid_request', 'unavailable'],
});

/** Deletes a workspace's own key for a provider. */
export const deleteProviderKey = endpoint({
  id: 'deleteProviderKey',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}',
  summary: 'Delete an own provider key.',
  tag: 'Provider keys',
  access,
  surface: 'v1',
  params: one,
  result: deleted('provider_key'),
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'not_found', 'invalid_request'],
});

/** Asks the provider whether it takes the key. */
export const checkProviderKey = endpoint({
  id: 'checkProviderKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/provider-keys/{provider}/check',
  summary: 'Check an own provider key.',
  description: 'Asks the provider, with one call that costs nothing, whether it takes the key.',
  tag: 'Provider keys',
  access,
  surface: 'v1',
  params: one,
  result: ProviderKeyCheck,
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'not_found', 'invalid_request', 'unavailable'],
});

export type ProviderKey = Static<typeof ProviderKey>;
export type ProviderKeyCheck = Static<typeof ProviderKeyCheck>;
