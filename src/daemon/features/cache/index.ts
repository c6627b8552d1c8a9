export { type CacheSettings, cachingRouter } from './caching-router.ts';
export { cacheHandlers } from './handlers.ts';
export type { CacheBounds, CachedAnswer, CacheStore } from './store.ts';
