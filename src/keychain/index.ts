export { type Keychain, openKeychain } from './keychain.ts';
export { KeychainFailure } from './keychain-failure.ts';
