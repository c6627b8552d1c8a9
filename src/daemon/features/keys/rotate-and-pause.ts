import { ApiError } from '../../../shared/errors.ts';
import { hintOf, makeSecret } from '../../../shared/secrets.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { KeyOrLogin } from '../../base/handler.ts';
import { type KeysDeps, mayRevoke, noSuchKey, recordEvent } from './keys.ts';
import type { KeyRecord, KeysStore } from './store.ts';

type RotationDeps = Pick<
  KeysDeps,
  'store' | 'workspaces' | 'events' | 'authenticator' | 'digest' | 'randomBytes' | 'now'
>;

/** Gives keys new secrets, and pauses them. */
export function createKeyRotation(deps: RotationDeps) {
  const { store, authenticator } = deps;
  const withLastUse = (record: KeyRecord): KeyRecord => {
    return { ...record, lastUsedAt: authenticator.lastUse(record.id) ?? record.lastUsedAt };
  };

  return {
    /**
     * Gives a key a new secret; the old one works until `previous.endsAt`. For the owner of the key, and for a key itself and its
     * ancestors. Fails with `not_found` for others and for a revoked key, with `permission` for a secret that was replaced, and
     * with `conflict` if the key was rotated at the same time.
     */
    async rotate(
      caller: KeyOrLogin,
      { workspace, keyId, graceMs }: { workspace: string; keyId: string; graceMs: number },
    ) {
      const membership = await deps.workspaces.membership(caller, workspace);
      const record = membership && (await store.byId(membership.workspaceId, keyId));
      const mayRotate =
        caller.kind === 'login'
          ? record?.ownerId === caller.userId
          : await descends(store, record, caller.keyId);
      if (!record || record.revokedAt !== null || !mayRotate) throw noSuchKey(keyId);
      if (caller.kind === 'key' && caller.previousSecret !== undefined) {
        const message = 'A secret that was replaced cannot rotate its key: use the new one.';
        throw new ApiError('permission', { message });
      }
      const secret = makeSecret('api', deps.randomBytes);
      const { workspaceId, digest: before } = record;
      const at = deps.now();
      const [digest, hint] = [deps.digest(secret), hintOf(secret)];
      const endsAt = graceMs > 0 ? at + graceMs : undefined;
      if (!(await store.rotate({ workspaceId, keyId, before, digest, hint, at, endsAt }))) {
        const message = 'The key was rotated or revoked at the same time; this rotation changed nothing.';
        throw new ApiError('conflict', { message });
      }
      const rotated = { ...record, digest, hint, rotatedAt: at };
      const previous = { hint: record.hint, endsAt: endsAt ?? at };
      await recordEvent(deps, 'key.rotated', rotated, {
        previous_hint: previous.hint,
        previous_ends_at: isoTime(previous.endsAt),
      });
      return { record: withLastUse(rotated), secret, previous };
    },

    /**
     * Pauses or resumes a key, and thereby its descendants; nothing changes if it is so already. Fails with `not_found` as
     * `revoke` does.
     */
    async setPaused(
      caller: KeyOrLogin,
      { workspace, keyId, isPaused }: { workspace: string; keyId: string; isPaused: boolean },
    ): Promise<KeyRecord> {
      const membership = await deps.workspaces.membership(caller, workspace);
      const record = membership && (await store.byId(membership.workspaceId, keyId));
      if (!record || record.revokedAt !== null || !mayRevoke(membership, record)) throw noSuchKey(keyId);
      const pausedAt = isPaused ? deps.now() : null;
      const isChanged = await store.setPaused(record.workspaceId, keyId, pausedAt);
      if (isChanged) await recordEvent(deps, isPaused ? 'key.paused' : 'key.resumed', record);
      const now = await store.byId(record.workspaceId, keyId);
      if (!now || now.revokedAt !== null) throw noSuchKey(keyId);
      return withLastUse(now);
    },
  };
}

export type KeyRotation = ReturnType<typeof createKeyRotation>;

/** Whether a key is the one with this id, or was issued by it, directly or indirectly. */
async function descends(
  store: Pick<KeysStore, 'byId'>,
  record: KeyRecord | undefined,
  ancestorId: string,
): Promise<boolean> {
  let key = record;
  while (key && key.id !== ancestorId)
    key = key.parentId === null ? undefined : await store.byId(key.workspaceId, key.parentId);
  return key !== undefined;
}
