export { whisperHandlers } from './handlers.ts';
export type { PersonShown, WhisperRecord, WhispersStore } from './store.ts';
export { whispers } from './whispers.ts';
