import type { Body } from '../../../shared/contract/endpoint.ts';
import type { updateProfile } from '../../../shared/contract/profile.ts';
import { inputFault, wellFormedMembers } from '../../../shared/input-faults.ts';
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
      wellFormedMembers(wish);
      const { userId } = await persons.of(caller);
      const changes = wish.handle === undefined ? wish : { ...wish, handle: wish.handle.toLowerCase() };
      if (changes.handle !== undefined && isReservedHandle(changes.handle))
        throw inputFault('handle', 'is reserved');
      const collision = await store.change(userId, changes, now());
      if (collision) throw inputFault(collision, taken[collision]);
      return await persons.of(caller);
    },

    /** Fails with `invalid_request` when the address is not the caller's, or when they cannot go. */
    async remove(caller: Caller, email: string): Promise<void> {
      const { userId, email: own } = await persons.of(caller);
      if (own === null) throw inputFault('email', 'cannot match: set an address in your profile first');
      if (email.toLowerCase() !== own.toLowerCase()) throw inputFault('email', 'is not your address');
      const removed = await store.remove(userId, now());
      if (isIrremovable(removed)) throw inputFault('email', whyNot(removed));
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
