export { type ChatSettings, chatAdapter } from './adapter.ts';
export type { FlavourName } from './flavour.ts';
