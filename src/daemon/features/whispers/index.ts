export { whisperHandlers } from './handlers.ts';
export { whispers } from './whispers.ts';
export type { PersonShown, WhisperRecord, WhispersStore } from './whispers-store.ts';
