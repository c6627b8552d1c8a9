export { profileHandlers } from './handlers.ts';
export { type People, people, toReference } from './people.ts';
export { profile } from './profile.ts';
export type { PersonRecord } from './store.ts';
