export { type Keychain, type KeychainOptions, openKeychain } from './keychain.ts';
export { KeychainFailure, type KeychainFault } from './keychain-failure.ts';
