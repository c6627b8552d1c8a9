export { whisperHandlers } from './handlers.ts';
export { whispers } from './whispers.ts';
