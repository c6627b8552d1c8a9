export { type Authenticator, authenticator, sha256 } from './authenticator.ts';
export { keyHandlers } from './handlers.ts';
export { keySettings } from './key-settings.ts';
export { noLimits, spendView } from './key-view.ts';
export { keys } from './keys.ts';
export { liveKeys } from './live-keys.ts';
export type { KeyRecord } from './store.ts';
