export { providerKeyHandlers } from './handlers.ts';
export { KeyUse } from './key-use.ts';
export { createProviderKeys } from './provider-keys.ts';
