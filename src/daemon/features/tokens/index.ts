export { tokenHandlers } from './handlers.ts';
export { type Tokens, tokens } from './tokens.ts';
export type { TokenRecord, TokensStore } from './tokens-store.ts';
