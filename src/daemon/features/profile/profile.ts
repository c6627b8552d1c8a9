import type { Body } from '../../../shared/contract/endpoint.ts';
import type { updateProfile } from '../../../shared/contract/profile.ts';
import { inputFault, wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import type { Caller } from '../../base/handler.ts';
import { isReservedHandle } from '../workspaces/index.ts';
import type { People } from './people.ts';
import type { Irremovable, PersonRecord, ProfileStore } from './store.ts';

export interface ProfileDeps {
  store: ProfileStore;
  people: People;
  now: () => number;
}

const collisions = { email: 'belongs to another user', handle: 'belongs to another user' };

/** Shows, changes and deletes the caller's profile. */
export function createProfile({ store, people, now }: ProfileDeps) {
  return {
    of: people.of,

    /** Fails with `invalid_request` for a handle or address that is taken. */
    async change(caller: Caller, request: Body<typeof updateProfile>): Promise<PersonRecord> {
      wellFormedMembers(request);
      const { userId } = await people.of(caller);
      const changes =
        request.handle === undefined ? request : { ...request, handle: request.handle.toLowerCase() };
      if (changes.handle !== undefined && isReservedHandle(changes.handle))
        throw inputFault('handle', 'is reserved');
      const collision = await store.change(userId, changes, now());
      if (collision) throw inputFault(collision, collisions[collision]);
      return await people.of(caller);
    },

    /** Fails with `invalid_request` if the address is not the caller's or the user cannot be deleted. */
    async remove(caller: Caller, email: string): Promise<void> {
      const { userId, email: own } = await people.of(caller);
      if (own === null) throw inputFault('email', 'cannot match: first set an address in your profile');
      if (email.toLowerCase() !== own.toLowerCase()) throw inputFault('email', 'is not your address');
      const removed = await store.remove(userId, now());
      if (isIrremovable(removed)) throw inputFault('email', whyNot(removed));
    },
  };
}

export type ProfileFeature = ReturnType<typeof createProfile>;

function isIrremovable(removed: object | Irremovable): removed is Irremovable {
  return removed === 'host-owner' || (typeof removed === 'object' && 'lastOwnerOf' in removed);
}

function whyNot(reason: Irremovable): string {
  if (reason === 'host-owner') return 'belongs to the owner of this host, who cannot be deleted';
  const { lastOwnerOf } = reason;
  return `belongs to the last owner of the workspace ${lastOwnerOf}; make another member an owner first`;
}
