export { daemonHandlers } from './handlers.ts';
export { whileLeading } from './leading.ts';
export type { Members } from './members.ts';
export type { DaemonsStore } from './store.ts';
export { keepTakingOver, takeOver } from './take-over.ts';
