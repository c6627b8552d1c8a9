import type { UserReference } from '../../../shared/contract/site.ts';
import { ApiError } from '../../../shared/errors.ts';
import { actingUser, type Caller } from '../../handler.ts';
import type { PersonRecord, ProfileStore } from './profile-store.ts';

/** Finds people for the site API. */
export function persons({ store }: { store: Pick<ProfileStore, 'byUserId' | 'byNumber' | 'byHandle'> }) {
  return {
    /** Whoever calls, or for whom a key or token calls. */
    async of(caller: Caller): Promise<PersonRecord> {
      const person = await store.byUserId(actingUser(caller).userId);
      if (!person) throw new ApiError('unauthenticated');
      return person;
    },
    byNumber: (number: number): Promise<PersonRecord | undefined> => store.byNumber(number),
    byHandle: (handle: string): Promise<PersonRecord | undefined> => store.byHandle(handle.toLowerCase()),
    /** Digits are an id, everything else is a handle. */
    named: (reference: string): Promise<PersonRecord | undefined> =>
      /^[0-9]{1,15}$/.test(reference)
        ? store.byNumber(Number(reference))
        : store.byHandle(reference.toLowerCase()),
  };
}

export type Persons = ReturnType<typeof persons>;

/** A person as others see them. */
export function toReference({
  avatar,
  handle,
  number,
  name,
}: Pick<PersonRecord, 'avatar' | 'handle' | 'number' | 'name'>): UserReference {
  return { avatar, handle, id: number, name };
}
