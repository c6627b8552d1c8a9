export { tokenHandlers } from './handlers.ts';
export type { TokenRecord, TokensStore } from './store.ts';
export { type Tokens, tokens } from './tokens.ts';
