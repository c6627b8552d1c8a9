import { integer, oneOf } from './schemas.ts';
import { setting, type Values } from './setting.ts';

export const cacheSettings = {
  background: { max_running: setting(integer(1, 10_000), { default: 256 }) },
  cache: {
    default: setting(oneOf(['off', 'read-only', 'read-write'], 'off, read-only or read-write'), {
      default: 'off',
    }),
    ttl_seconds: setting(integer(1, 31_536_000, 'seconds'), { default: 3_600 }),
    max_entries: setting(integer(1, 1_000_000), { default: 10_000 }),
    max_mb: setting(integer(1, 10_000, 'megabytes'), { default: 256 }),
  },
};

export function cacheConfig({ background, cache }: Values<typeof cacheSettings>) {
  return {
    /** Maximum number of background responses in progress, over all callers. */
    backgroundRunsMax: background.max_running,
    /** The response cache. */
    cache: {
      /** The default for calls that do not set it. */
      defaultMode: cache.default,
      ttlMs: cache.ttl_seconds * 1000,
      entriesMax: cache.max_entries,
      bytesMax: cache.max_mb * 1024 ** 2,
    },
  };
}
