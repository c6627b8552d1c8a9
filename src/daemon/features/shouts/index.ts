export { shoutHandlers } from './handlers.ts';
export { shouts } from './shouts.ts';
