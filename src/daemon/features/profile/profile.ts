import type { Body } from '../../../shared/contract/endpoint.ts';
import type { updateProfile } from '../../../shared/contract/profile.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../handler.ts';
import { isReservedHandle } from '../workspaces/index.ts';
import type { Persons } from './persons.ts';
import type { Irremovable, PersonRecord, ProfileStore } from './profile-store.ts';

export interface ProfileNeeds {
  store: ProfileStore;
  persons: Persons;
  /** Told once it is on disk that a credential, or somebody's part in a workspace, ended. */
  endings: { revoke(id: string): void; endMembership(workspaceId: string, userId: string): void };
  forgetRole: (workspaceId: string, userId: string) => void;
  now: () => number;
}

const taken = { email: 'is the address of somebody else here', handle: 'is somebody else’s' };

/** Showing, changing and deleting whoever calls. */
export function profile({ store, persons, endings, forgetRole, now }: ProfileNeeds) {
  return {
    of: persons.of,

    /** Fails with `invalid_request` for a handle or address that is taken. */
    async change(caller: Caller, wish: Body<typeof updateProfile>): Promise<PersonRecord> {
      for (const [param, text] of Object.entries(wish)) {
        if (!text.isWellFormed()) throw fault(param, 'is not valid Unicode');
      }
      const { userId } = await persons.of(caller);
      const changes = wish.handle === undefined ? wish : { ...wish, handle: wish.handle.toLowerCase() };
      if (changes.handle !== undefined && isReservedHandle(changes.handle))
        throw fault('handle', 'is reserved');
      const collision = await store.change(userId, changes, now());
      if (collision) throw fault(collision, taken[collision]);
      return await persons.of(caller);
    },

    /** Fails with `invalid_request` when the address is not the caller's, or when they cannot go. */
    async remove(caller: Caller, email: string): Promise<void> {
      const { userId, email: own } = await persons.of(caller);
      if (own === null) throw fault('email', 'cannot match: set an address in your profile first');
      if (email.toLowerCase() !== own.toLowerCase()) throw fault('email', 'is not your address');
      const removed = await store.remove(userId, now());
      if (isIrremovable(removed)) throw fault('email', whyNot(removed));
      for (const id of removed.credentials) endings.revoke(id);
      for (const workspaceId of removed.workspaces) {
        forgetRole(workspaceId, userId);
        endings.endMembership(workspaceId, userId);
      }
    },
  };
}

export type ProfileFeature = ReturnType<typeof profile>;

function isIrremovable(removed: object | Irremovable): removed is Irremovable {
  return removed === 'host-owner' || (typeof removed === 'object' && 'lastOwnerOf' in removed);
}

function whyNot(reason: Irremovable): string {
  if (reason === 'host-owner') return 'is that of whoever runs this host, who cannot be deleted';
  const { lastOwnerOf } = reason;
  return `is that of the last owner of the workspace ${lastOwnerOf}, which has other members: make one of them an owner first`;
}

function fault(param: string, what: string): ApiError {
  return new ApiError('invalid_request', { param, message: `\`${param}\` ${what}.` });
}
