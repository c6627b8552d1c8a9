export { whisperHandlers } from './handlers.ts';
export { createWhispers } from './whispers.ts';
