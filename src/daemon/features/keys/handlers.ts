import { setKeyDefaults } from '../../../shared/contract/key-defaults.ts';
import { getLimits, setLimits } from '../../../shared/contract/key-limits.ts';
import {
  getKey,
  issueKey,
  type KeyView,
  listKeys,
  pauseKey,
  resumeKey,
  revokeKey,
  rotateKey,
  showKey,
} from '../../../shared/contract/keys.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type AgentCaller, implement, keyOrLogin } from '../../base/handler.ts';
import { pageOf, withSecret } from '../../base/replies.ts';
import type { KeySettings } from './key-settings.ts';
import { capUseView, previousView, spendView, toKey } from './key-view.ts';
import type { Keys } from './keys.ts';
import { defaultsView, limitsView } from './limits-and-defaults.ts';
import type { KeyRotation } from './rotate-and-pause.ts';

interface KeyHandlersDeps {
  keys: Keys;
  rotation: KeyRotation;
  settings: KeySettings;
  /** The calling agent's view of itself. */
  agentView: (caller: AgentCaller) => Promise<KeyView>;
  now: () => number;
}

export const keyHandlers = ({ keys, rotation, settings, agentView, now }: KeyHandlersDeps) => [
  implement(
    listKeys,
    ({ caller, params, query }) =>
      pageOf(query, (page) => keys.list(keyOrLogin(caller), params.workspace, page), {
        view: (record) => toKey(record, now()),
        idOf: ({ id }) => id,
      }),
    ({ caller, params }) => keys.permit.list(keyOrLogin(caller), params.workspace),
  ),

  implement(
    issueKey,
    async ({ caller, params, body }) => {
      // The body is optional.
      const { name, scopes, models, actions, limits, defaults } = body ?? {};
      const request = { name, scopes, models, actions, limits, defaults };
      const { record, secret } = await keys.issue(keyOrLogin(caller), params.workspace, request);
      return withSecret<typeof issueKey>({ key: toKey(record, now()), secret });
    },
    ({ caller, params }) => keys.permit.issue(keyOrLogin(caller), params.workspace),
  ),

  implement(revokeKey, async ({ caller, params }) => {
    const others = await keys.revoke(keyOrLogin(caller), params.workspace, params.key);
    return { id: params.key, object: 'key', deleted: true, also_revoked: others };
  }),

  implement(rotateKey, async ({ caller, params, body }) => {
    const graceMs = (body?.grace_seconds ?? 0) * 1000;
    const request = { workspace: params.workspace, keyId: params.key, graceMs };
    const { record, secret, previous } = await rotation.rotate(keyOrLogin(caller), request);
    const { hint, endsAt } = previous;
    return withSecret<typeof rotateKey>({
      key: toKey(record, now()),
      secret,
      previous: { hint, ends_at: isoTime(endsAt) },
    });
  }),

  ...(
    [
      [pauseKey, true],
      [resumeKey, false],
    ] as const
  ).map(([contract, isPaused]) =>
    implement(contract, async ({ caller, params }) => {
      const request = { workspace: params.workspace, keyId: params.key, isPaused };
      return toKey(await rotation.setPaused(keyOrLogin(caller), request), now());
    }),
  ),

  implement(showKey, async ({ caller, params }) => {
    const { record, use, previous } = await settings.show(keyOrLogin(caller), params.workspace, params.key);
    const used = {
      spend_usd: spendView(use.spend),
      spend_cap: capUseView(record.limits?.spendCap, use, now()),
      requests_last_minute: use.requestsLastMinute,
    };
    return { ...toKey(record, now()), used, previous_secrets: previous.map(previousView) };
  }),

  implement(getLimits, async ({ caller, params }) =>
    limitsView(await settings.get(keyOrLogin(caller), params.workspace, params.key)),
  ),

  implement(
    setLimits,
    async ({ caller, params, body }) =>
      limitsView(await settings.set(keyOrLogin(caller), params.workspace, params.key, body)),
    ({ caller, params }) => settings.get(keyOrLogin(caller), params.workspace, params.key),
  ),

  implement(
    setKeyDefaults,
    async ({ caller, params, body }) =>
      defaultsView(await settings.setDefaults(keyOrLogin(caller), params.workspace, params.key, body)),
    ({ caller, params }) => settings.get(keyOrLogin(caller), params.workspace, params.key),
  ),

  implement(getKey, async ({ caller }) =>
    caller.kind === 'agent' ? await agentView(caller) : await keys.view(keyOrLogin(caller)),
  ),
];
