export { aboutHandlers } from './handlers.ts';
export { type ProcessFacts, statusReaders } from './status.ts';
