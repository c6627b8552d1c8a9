export { profileHandlers } from './handlers.ts';
export { createPeople, type People, toReference } from './people.ts';
export { createProfile } from './profile.ts';
export type { PersonRecord } from './store.ts';
