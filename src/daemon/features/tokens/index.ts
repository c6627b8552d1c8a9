export { tokenHandlers } from './handlers.ts';
export type { TokenRecord, TokensStore } from './store.ts';
export { createTokens } from './tokens.ts';
