import {
  checkNamedProviderKey,
  checkProviderKey,
  deleteNamedProviderKey,
  deleteProviderKey,
  listProviderKeys,
  type ProviderKey,
  putNamedProviderKey,
  putProviderKey,
} from '../../../shared/contract/provider-keys.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { implement, keyOrLogin } from '../../base/handler.ts';
import type { ProviderKeys } from './provider-keys.ts';
import type { ProviderKeyRecord } from './store.ts';

export const providerKeyHandlers = (keys: ProviderKeys) => [
  implement(listProviderKeys, async ({ caller, params }) => {
    const records = await keys.list(keyOrLogin(caller), params.workspace);
    return { object: 'list', data: records.map(toProviderKey), has_more: false, next: null };
  }),

  ...[putProviderKey, putNamedProviderKey].map((contract) =>
    implement(
      contract,
      async ({ caller, params, body }) =>
        toProviderKey(await keys.put(keyOrLogin(caller), { ...params, key: body.key })),
      ({ caller, params }) => keys.permit(keyOrLogin(caller), params.workspace),
    ),
  ),

  ...[deleteProviderKey, deleteNamedProviderKey].map((contract) =>
    implement(contract, async ({ caller, params }) => {
      await keys.delete(keyOrLogin(caller), params);
      const { provider, name } = params as typeof params & { name?: string };
      return {
        id: name === undefined ? provider : `${provider}/${name}`,
        object: 'provider_key',
        deleted: true,
      };
    }),
  ),

  ...[checkProviderKey, checkNamedProviderKey].map((contract) =>
    implement(contract, async ({ caller, params }) => keys.check(keyOrLogin(caller), params)),
  ),
];

function toProviderKey(record: ProviderKeyRecord): ProviderKey {
  return {
    provider: record.provider,
    name: record.name === '' ? null : record.name,
    fingerprint: record.fingerprint,
    added_at: isoTime(record.addedAt),
    updated_at: isoTime(record.updatedAt),
  };
}
