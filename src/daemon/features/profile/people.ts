import type { UserReference } from '../../../shared/contract/site.ts';
import { ApiError } from '../../../shared/errors.ts';
import { actingUser, type Caller } from '../../base/handler.ts';
import type { PersonRecord, ProfileStore } from './store.ts';

/** Finds the people of the site API. */
export function createPeople({ store }: { store: Pick<ProfileStore, 'byUserId' | 'byNumber' | 'byHandle'> }) {
  return {
    /** The user on whose behalf the site API is called. */
    async of(caller: Caller): Promise<PersonRecord> {
      const person = await store.byUserId(actingUser(caller).userId);
      if (!person) throw new ApiError('unauthenticated');
      return person;
    },
    byNumber: (number: number): Promise<PersonRecord | undefined> => store.byNumber(number),
    byHandle: (handle: string): Promise<PersonRecord | undefined> => store.byHandle(handle.toLowerCase()),
    /** By number or handle. */
    named: (reference: string): Promise<PersonRecord | undefined> =>
      /^[0-9]{1,15}$/.test(reference)
        ? store.byNumber(Number(reference))
        : store.byHandle(reference.toLowerCase()),
  };
}

export type People = ReturnType<typeof createPeople>;

/** The public view of a person. */
export function toReference({
  avatar,
  handle,
  number,
  name,
}: Pick<PersonRecord, 'avatar' | 'handle' | 'number' | 'name'>): UserReference {
  return { avatar, handle, id: number, name };
}
