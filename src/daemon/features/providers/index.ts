export { providerHandlers } from './handlers.ts';
