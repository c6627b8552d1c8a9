export { type Authenticator, authenticator } from './authenticator.ts';
export { sha256 } from './digest.ts';
export { keyHandlers } from './handlers.ts';
export { keyOwnership } from './key-ownership.ts';
export { noLimits } from './key-view.ts';
export { type Keys, keys } from './keys.ts';
export type { KeyRecord, KeysStore } from './keys-store.ts';
export { type LiveKeys, liveKeys } from './live-keys.ts';
