export { shoutHandlers } from './handlers.ts';
export { createShouts } from './shouts.ts';
