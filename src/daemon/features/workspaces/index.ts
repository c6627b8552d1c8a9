export { bootstrap, type FirstSecrets } from './bootstrap.ts';
export { peopleHandlers } from './handlers.ts';
export { isReservedHandle } from './slugs.ts';
export type { LoginRecord, WorkspacesStore } from './store.ts';
export { guardOwner, type Membership, type Workspaces, workspaces } from './workspaces.ts';
