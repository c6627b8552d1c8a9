import {
  checkProviderKey,
  deleteProviderKey,
  listProviderKeys,
  type ProviderKey,
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

  implement(
    putProviderKey,
    async ({ caller, params, body }) =>
      toProviderKey(await keys.put(keyOrLogin(caller), { ...params, key: body.key })),
    ({ caller, params }) => keys.permit(keyOrLogin(caller), params.workspace),
  ),

  implement(deleteProviderKey, async ({ caller, params }) => {
    await keys.delete(keyOrLogin(caller), params.workspace, params.provider);
    return { id: params.provider, object: 'provider_key', deleted: true };
  }),

  implement(checkProviderKey, async ({ caller, params }) =>
    keys.check(keyOrLogin(caller), params.workspace, params.provider),
  ),
];

function toProviderKey(record: ProviderKeyRecord): ProviderKey {
  return {
    provider: record.provider,
    fingerprint: record.fingerprint,
    added_at: isoTime(record.addedAt),
    updated_at: isoTime(record.updatedAt),
  };
}
