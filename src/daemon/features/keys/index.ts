export { createActiveKeys } from './active-keys.ts';
export { type Authenticator, createAuthenticator, sha256 } from './authenticator.ts';
export { keyHandlers } from './handlers.ts';
export { publishExpiry, recordPreviousUse } from './key-events.ts';
export { createKeySettings } from './key-settings.ts';
export { noLimits, spendView } from './key-view.ts';
export { createKeys } from './keys.ts';
export { createKeyRotation } from './rotate-and-pause.ts';
export type { KeyRecord } from './store.ts';
