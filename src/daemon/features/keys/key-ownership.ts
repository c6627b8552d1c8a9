import type { KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import type { LimitsChange } from '../../../shared/contract/key-limits.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { KeyCaller, KeyDefaults, KeyLimits, LoginCaller } from '../../handler.ts';
import type { Admission } from '../metering/index.ts';
import type { Workspaces } from '../workspaces/index.ts';
import { changedDefaults } from './defaults.ts';
import type { KeyRecord, KeysStore } from './keys-store.ts';
import { changedLimits } from './limits.ts';
import type { LiveKeys } from './live-keys.ts';

export interface KeyOwnershipNeeds {
  store: Pick<KeysStore, 'byId' | 'setLimits' | 'setDefaults'>;
  workspaces: Pick<Workspaces, 'membership'>;
  admission: Pick<Admission, 'usedBy'>;
  live: Pick<LiveKeys, 'changed'>;
  /** When a key was last used, as far as it is not in the store yet. */
  lastUse: (keyId: string) => number | undefined;
  now: () => number;
}

type Identified = KeyCaller | LoginCaller;

/** What the owner of a key may see and say of it. */
export function keyOwnership(needs: KeyOwnershipNeeds) {
  const { store, workspaces, admission, live, lastUse, now } = needs;
  const inTurn = oneAfterTheOther();

  const find = async (caller: Identified, workspace: string, keyId: string) => {
    const membership = await workspaces.membership(caller, workspace);
    const record = membership && (await store.byId(membership.workspaceId, keyId));
    if (!record) throw noSuchKey();
    return { record, membership };
  };
  const owned = async (caller: Identified, workspace: string, keyId: string): Promise<KeyRecord> => {
    if (caller.kind !== 'login') throw new ApiError('signed_out');
    const { record } = await find(caller, workspace, keyId);
    if (record.ownerId === caller.userId) return record;
    throw new ApiError('permission', {
      message: 'Only the owner of a key may see and set what it is limited to, and its defaults.',
    });
  };

  return {
    /** A key and what it used, for members of its workspace; `not_found` for all others. */
    async show(caller: Identified, workspace: string, keyId: string) {
      const { record } = await find(caller, workspace, keyId);
      const lastUsedAt = lastUse(record.id) ?? record.lastUsedAt;
      return { record: { ...record, lastUsedAt }, use: await admission.usedBy(record.id) };
    },

    /** Fails with `signed_out`, `permission` or `not_found`. */
    get: async (caller: Identified, workspace: string, keyId: string): Promise<KeyLimits | null> =>
      (await owned(caller, workspace, keyId)).limits,

    /** Resolves when it counts: for every request that is accepted from then on. Fails as `get`, or with `invalid_request`. */
    async set(
      caller: Identified,
      workspace: string,
      keyId: string,
      change: LimitsChange,
    ): Promise<KeyLimits | null> {
      return await inTurn(keyId, async () => {
        const record = await owned(caller, workspace, keyId);
        const limits = changedLimits(record.limits, { change, now: now() });
        if (!(await store.setLimits(record.workspaceId, keyId, limits))) throw noSuchKey();
        live.changed(keyId, { limits });
        return limits;
      });
    },

    /** As `set`. */
    async setDefaults(
      caller: Identified,
      workspace: string,
      keyId: string,
      change: KeyDefaultsChange,
    ): Promise<KeyDefaults | null> {
      return await inTurn(keyId, async () => {
        const record = await owned(caller, workspace, keyId);
        const defaults = changedDefaults(record.defaults, change);
        if (!(await store.setDefaults(record.workspaceId, keyId, defaults))) throw noSuchKey();
        live.changed(keyId, { defaults });
        return defaults;
      });
    },
  };
}

/** One change of a key after the other: each begins with what the one before left. */
function oneAfterTheOther() {
  const changes = new Map<string, Promise<unknown>>();
  return async <T>(keyId: string, change: () => Promise<T>): Promise<T> => {
    const made = (changes.get(keyId) ?? Promise.resolve()).then(change, change);
    changes.set(keyId, made);
    try {
      return await made;
    } finally {
      if (changes.get(keyId) === made) changes.delete(keyId);
    }
  };
}

export type KeyOwnership = ReturnType<typeof keyOwnership>;

function noSuchKey(): ApiError {
  return new ApiError('not_found', { message: 'There is no such key.' });
}
