export { providerKeyHandlers } from './handlers.ts';
export { KeyUse } from './key-use.ts';
export { type ProviderKeys, providerKeys } from './provider-keys.ts';
export type { ProviderKeyRecord, ProviderKeysStore } from './store.ts';
