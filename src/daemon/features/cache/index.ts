export type { CacheBounds, CachedAnswer, CacheStore } from './cache-store.ts';
export { type CacheMode, type CacheSettings, cachingRouter } from './caching-router.ts';
export { cacheHandlers } from './handlers.ts';
