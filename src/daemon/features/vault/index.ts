export { vaultHandlers } from './handlers.ts';
export {
  type MasterStore,
  MasterStoreFailure,
  type MasterStores,
  type ReadPassphrase,
} from './master-store.ts';
export { parseMasterKey } from './master-text.ts';
export { Vault, type VaultNeeds } from './vault.ts';
export type { MasterRecord, MasterStoreName, SealedSecret, VaultStore } from './vault-store.ts';
