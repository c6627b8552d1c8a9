export { providerHandlers } from './handlers.ts';
export { providerView } from './provider-view.ts';
