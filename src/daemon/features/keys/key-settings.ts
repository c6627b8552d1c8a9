import type { KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { KeyDefaults, KeyLimits, KeyOrLogin } from '../../base/handler.ts';
import type { Admission } from '../metering/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { noSuchKey } from './keys.ts';
import { changedDefaults, changedLimits } from './limits-and-defaults.ts';
import type { KeyRecord, KeysStore } from './store.ts';

export interface KeySettingsDeps {
  store: Pick<KeysStore, 'byId' | 'setLimits' | 'setDefaults' | 'previousOf'>;
  workspaces: Pick<Workspaces, 'membership'>;
  admission: Pick<Admission, 'usedBy'>;
  /** When a key was last used, if not stored yet. */
  lastUse: (keyId: string) => number | undefined;
  lastPreviousUse: (digest: string) => number | undefined;
  now: () => number;
}

/** A change is retried when another one came in between. */
const attemptsMax = 5;

/** Shows keys to members, and lets their owners set limits and defaults. */
export function createKeySettings(deps: KeySettingsDeps) {
  const { store, workspaces, admission, lastUse, lastPreviousUse, now } = deps;

  const find = async (caller: KeyOrLogin, workspace: string, keyId: string) => {
    const membership = await workspaces.membership(caller, workspace);
    return membership && (await store.byId(membership.workspaceId, keyId));
  };
  const owned = async (caller: KeyOrLogin, workspace: string, keyId: string): Promise<KeyRecord> => {
    if (caller.kind !== 'login') throw new ApiError('signed_out');
    const record = await find(caller, workspace, keyId);
    if (record?.ownerId === caller.userId) return record;
    // The same whether the key exists or not.
    throw new ApiError('permission', {
      message: 'You own no such key: only its owner can view and change the limits and defaults of a key.',
    });
  };

  return {
    /** A key, its usage and the previous secrets that still work, for members of its workspace. Fails with `not_found` for others. */
    async show(caller: KeyOrLogin, workspace: string, keyId: string) {
      const record = await find(caller, workspace, keyId);
      if (!record) throw noSuchKey(keyId);
      const lastUsedAt = lastUse(record.id) ?? record.lastUsedAt;
      const at = now();
      const known = record.rotatedAt === null ? [] : await store.previousOf(record.id);
      const previous = known
        .filter(({ endsAt }) => endsAt > at && record.revokedAt === null)
        .map((secret) => ({ ...secret, lastUsedAt: lastPreviousUse(secret.digest) ?? secret.lastUsedAt }));
      return {
        record: { ...record, lastUsedAt },
        use: await admission.usedBy(record.id, record.limits?.spendCap),
        previous,
      };
    },

    /** Fails with `signed_out`, or with `permission`, also if there is no such key. */
    get: async (caller: KeyOrLogin, workspace: string, keyId: string): Promise<KeyLimits | null> =>
      (await owned(caller, workspace, keyId)).limits,

    /** Applies to every request accepted after it resolves. Fails as `get`, or with `invalid_request`. */
    async set(
      caller: KeyOrLogin,
      workspace: string,
      keyId: string,
      change: LimitsChange,
    ): Promise<KeyLimits | null> {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const { workspaceId, limits: before } = await owned(caller, workspace, keyId);
        const limits = changedLimits(before, { change, now: now() });
        if (await store.setLimits(workspaceId, keyId, limits, before)) return limits;
      }
      throw new ApiError('conflict');
    },

    /** As `set`. */
    async setDefaults(
      caller: KeyOrLogin,
      workspace: string,
      keyId: string,
      change: KeyDefaultsChange,
    ): Promise<KeyDefaults | null> {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const { workspaceId, defaults: before } = await owned(caller, workspace, keyId);
        const defaults = changedDefaults(before, change);
        if (await store.setDefaults(workspaceId, keyId, defaults, before)) return defaults;
      }
      throw new ApiError('conflict');
    },
  };
}

export type KeySettings = ReturnType<typeof createKeySettings>;
