export { type Bootstrap, bootstrap, type FirstSecrets } from './bootstrap.ts';
export { peopleHandlers } from './handlers.ts';
export type { PeopleStore } from './people-store.ts';
export { isReservedHandle } from './slugs.ts';
export type {
  LoginRecord,
  NewLogin,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
  WorkspacesStore,
} from './store.ts';
export { guardOwner, type Membership, type Workspaces, workspaces } from './workspaces.ts';
