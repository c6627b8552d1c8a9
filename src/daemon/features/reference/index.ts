export { referenceHandlers } from './handlers.ts';
