export { aboutHandlers } from './handlers.ts';
