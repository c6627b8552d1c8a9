export { configurationHandlers } from './handlers.ts';
