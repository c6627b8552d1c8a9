import { setKeyDefaults } from '../../../shared/contract/key-defaults.ts';
import { getLimits, setLimits } from '../../../shared/contract/key-limits.ts';
import { getKey, issueKey, listKeys, revokeKey, showKey } from '../../../shared/contract/keys.ts';
import { identified, implement } from '../../handler.ts';
import { pageOf, withSecret } from '../../replies.ts';
import type { KeySettings } from './key-settings.ts';
import { spendView, toKey } from './key-view.ts';
import type { Keys } from './keys.ts';
import { defaultsView, limitsView } from './limits-and-defaults.ts';

interface KeyHandlersDeps {
  keys: Keys;
  settings: KeySettings;
  now: () => number;
}

export const keyHandlers = ({ keys, settings, now }: KeyHandlersDeps) => [
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
      // The body is optional.
      const { name, scopes, models, actions, limits, defaults } = body ?? {};
      const request = { name, scopes, models, actions, limits, defaults };
      const { record, secret } = await keys.issue(identified(caller), params.workspace, request);
      return withSecret<typeof issueKey>({ key: toKey(record, now()), secret });
    },
    ({ caller, params }) => keys.permit.issue(identified(caller), params.workspace),
  ),

  implement(revokeKey, async ({ caller, params }) => {
    const others = await keys.revoke(identified(caller), params.workspace, params.key);
    return { id: params.key, object: 'key', deleted: true, also_revoked: others };
  }),

  implement(showKey, async ({ caller, params }) => {
    const { record, use } = await settings.show(identified(caller), params.workspace, params.key);
    const used = { spend_usd: spendView(use.spend), requests_last_minute: use.requestsLastMinute };
    return { ...toKey(record, now()), used };
  }),

  implement(getLimits, async ({ caller, params }) =>
    limitsView(await settings.get(identified(caller), params.workspace, params.key)),
  ),

  implement(
    setLimits,
    async ({ caller, params, body }) =>
      limitsView(await settings.set(identified(caller), params.workspace, params.key, body)),
    ({ caller, params }) => settings.get(identified(caller), params.workspace, params.key),
  ),

  implement(
    setKeyDefaults,
    async ({ caller, params, body }) =>
      defaultsView(await settings.setDefaults(identified(caller), params.workspace, params.key, body)),
    ({ caller, params }) => settings.get(identified(caller), params.workspace, params.key),
  ),

  implement(getKey, async ({ caller }) => await keys.view(identified(caller))),
];
