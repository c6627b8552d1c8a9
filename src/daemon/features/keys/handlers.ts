import { setKeyDefaults } from '../../../shared/contract/key-defaults.ts';
import { getLimits, setLimits } from '../../../shared/contract/key-limits.ts';
import { getKey, issueKey, listKeys, revokeKey, showKey } from '../../../shared/contract/keys.ts';
import { identified, implement } from '../../handler.ts';
import { pageOf, withSecret } from '../../replies.ts';
import { defaultsView } from './defaults.ts';
import type { KeyOwnership } from './key-ownership.ts';
import { spendView, toKey } from './key-view.ts';
import type { Keys } from './keys.ts';
import { limitsView } from './limits.ts';

interface KeyHandlersNeeds {
  keys: Keys;
  owned: KeyOwnership;
  now: () => number;
}

export const keyHandlers = ({ keys, owned, now }: KeyHandlersNeeds) => [
  implement(
    listKeys,
    ({ caller, params, query }) =>
      pageOf(query, (page) => keys.list(identified(caller), params.workspace, page), {
        view: (record) => toKey(record, now()),
        idOf: ({ id }) => id,
      }),
    ({ caller, params }) => keys.permit.list(identified(caller), params.workspace),
  ),

  implement(
    issueKey,
    async ({ caller, params, body }) => {
      // The body may be left out altogether.
      const { name, scopes, models, actions, limits, defaults } = body ?? {};
      const wish = { name, scopes, models, actions, limits, defaults };
      const { record, secret } = await keys.issue(identified(caller), params.workspace, wish);
      return withSecret<typeof issueKey>({ key: toKey(record, now()), secret });
    },
    ({ caller, params }) => keys.permit.issue(identified(caller), params.workspace),
  ),

  implement(revokeKey, async ({ caller, params }) => {
    const others = await keys.revoke(identified(caller), params.workspace, params.key);
    return { id: params.key, object: 'key', deleted: true, also_revoked: others };
  }),

  implement(showKey, async ({ caller, params }) => {
    const { record, use } = await owned.show(identified(caller), params.workspace, params.key);
    const used = { spend_usd: spendView(use.spend), requests_last_minute: use.requestsLastMinute };
    return { ...toKey(record, now()), used };
  }),

  implement(getLimits, async ({ caller, params }) =>
    limitsView(await owned.get(identified(caller), params.workspace, params.key)),
  ),

  implement(
    setLimits,
    async ({ caller, params, body }) =>
      limitsView(await owned.set(identified(caller), params.workspace, params.key, body)),
    ({ caller, params }) => owned.get(identified(caller), params.workspace, params.key),
  ),

  implement(
    setKeyDefaults,
    async ({ caller, params, body }) =>
      defaultsView(await owned.setDefaults(identified(caller), params.workspace, params.key, body)),
    ({ caller, params }) => owned.get(identified(caller), params.workspace, params.key),
  ),

  implement(getKey, async ({ caller }) => await keys.view(identified(caller))),
];
