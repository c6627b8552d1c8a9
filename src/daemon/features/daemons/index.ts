export type { DaemonsStore } from './store.ts';
export { takeOver } from './take-over.ts';
