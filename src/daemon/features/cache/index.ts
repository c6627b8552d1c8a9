export { cachingRouter } from './caching-router.ts';
export { cacheHandlers } from './handlers.ts';
export type { CachedAnswer, CacheStore } from './store.ts';
