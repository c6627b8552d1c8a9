export type { Members } from './members.ts';
export type { DaemonsStore } from './store.ts';
export { takeOver } from './take-over.ts';
