export { providerKeyHandlers } from './handlers.ts';
export { KeyUse } from './key-use.ts';
export { providerKeys } from './provider-keys.ts';
