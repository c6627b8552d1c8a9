export { profileHandlers } from './handlers.ts';
export { type Persons, persons, toReference } from './persons.ts';
export { profile } from './profile.ts';
export type { PersonRecord, ProfileStore } from './profile-store.ts';
