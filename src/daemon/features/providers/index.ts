export { benchesOf } from './benches.ts';
export { providerHandlers } from './handlers.ts';
export { createLocalServers } from './local-servers.ts';
export type { BodyEdits, KeyVerdict, Provider, ProviderCheck } from './provider.ts';
export { createProviderSet, isElsewhere, type ProviderSet } from './provider-set.ts';
