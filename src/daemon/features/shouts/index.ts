export { shoutHandlers } from './handlers.ts';
export { shouts } from './shouts.ts';
export type { ShoutRecord, ShoutsStore } from './store.ts';
