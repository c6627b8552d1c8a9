export { bootstrap, type FirstSecrets } from './bootstrap.ts';
export { peopleHandlers } from './handlers.ts';
export { isReservedHandle } from './slugs.ts';
export type { LoginRecord, WorkspacesStore } from './store.ts';
export {
  createWorkspaces,
  guardOwner,
  type Membership,
  managedWorkspace,
  type Workspaces,
} from './workspaces.ts';
