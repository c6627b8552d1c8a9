export { VaultClosed } from './closed-vault.ts';
export { createDataSealer, type DataSealer } from './data-sealer.ts';
export { vaultHandlers } from './handlers.ts';
export {
  type MasterStore,
  MasterStoreFailure,
  type MasterStores,
  type ReadPassphrase,
} from './master-store.ts';
export { parseMasterKey } from './sealing-scheme.ts';
export type { MasterStoreName, SealedSecret, VaultStore } from './store.ts';
export { createTextSealer, type TextSealer, withMethods } from './text-sealer.ts';
export { Vault } from './vault.ts';
