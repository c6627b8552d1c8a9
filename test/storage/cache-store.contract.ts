import { beforeEach, describe, expect, test } from 'vitest';
import type { CachedAnswer, CacheStore } from '../../src/daemon/features/cache/index.ts';

const bounds = { entriesMax: 100, bytesMax: 1_000_000 };

const answer = (digest: string, more: Partial<CachedAnswer> = {}): CachedAnswer => ({
  workspaceId: 'ws_1',
  requestId: 'req_1',
  digest,
  model: 'openai/gpt',
  providerModel: 'gpt',
  events: '[]',
  createdAt: 1_000,
  expiresAt: 2_000,
  ...more,
});

export function cacheStoreContract(open: () => Promise<{ cache: CacheStore }>): void {
  describe('the cache store', () => {
    let store: CacheStore;

    beforeEach(async () => {
      store = (await open()).cache;
    });

    test('finds an answer until it expires, in its own workspace alone', async () => {
      await store.put(answer('a'), bounds);
      expect(await store.find('ws_1', 'a', 1_999)).toEqual(answer('a'));
      expect(await store.find('ws_1', 'a', 2_000)).toBeUndefined();
      expect(await store.find('ws_2', 'a', 1_500)).toBeUndefined();
      expect(await store.find('ws_1', 'b', 1_500)).toBeUndefined();
    });

    test('replaces an older answer', async () => {
      await store.put(answer('a'), bounds);
      await store.put(answer('a', { events: '[1]', expiresAt: 9_000 }), bounds);
      expect(await store.find('ws_1', 'a', 5_000)).toMatchObject({ events: '[1]' });
      expect(await store.size('ws_1')).toEqual({ entries: 1, bytes: 3 });
    });

    test('evicts the least recently used answers when there are too many', async () => {
      for (const [at, digest] of ['a', 'b', 'c'].entries())
        await store.put(answer(digest, { createdAt: 1_000 + at }), bounds);
      await store.touch('ws_1', 'a', 1_500);
      await store.put(answer('d', { createdAt: 1_600 }), { ...bounds, entriesMax: 2 });
      const kept = [];
      for (const digest of ['a', 'b', 'c', 'd'])
        if (await store.find('ws_1', digest, 1_700)) kept.push(digest);
      expect(kept).toEqual(['a', 'd']);
    });

    test('evicts the least recently used answers when they are too large', async () => {
      await store.put(answer('a', { events: 'x'.repeat(60) }), bounds);
      await store.put(answer('b', { events: 'ä'.repeat(30), createdAt: 1_001 }), {
        ...bounds,
        bytesMax: 100,
      });
      expect(await store.find('ws_1', 'a', 1_500)).toBeUndefined();
      expect(await store.size('ws_1')).toEqual({ entries: 1, bytes: 60 });
    });

    test('clears one workspace, and expired answers', async () => {
      await store.put(answer('a'), bounds);
      await store.put(answer('b', { expiresAt: 5_000 }), bounds);
      await store.put(answer('a', { workspaceId: 'ws_2', expiresAt: 5_000 }), bounds);
      expect(await store.removeExpired(2_000, 10)).toBe(1);
      expect(await store.clear('ws_1')).toBe(1);
      expect(await store.size('ws_1')).toEqual({ entries: 0, bytes: 0 });
      expect(await store.size('ws_2')).toMatchObject({ entries: 1 });
    });
  });
}
