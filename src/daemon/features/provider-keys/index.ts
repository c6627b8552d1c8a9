export { providerKeyHandlers } from './handlers.ts';
export { type HostAccount, HostKeys, hostKeyName } from './host-keys.ts';
export { KeyUse } from './key-use.ts';
export { createProviderKeys, keyFormatFault } from './provider-keys.ts';
