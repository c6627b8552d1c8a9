import { expect, test } from 'vitest';
import {
  type CachedAnswer,
  type CacheStore,
  cachingRouter,
} from '../../../../src/daemon/features/cache/index.ts';
import type {
  ProviderRoute,
  RoutePreferences,
  Router,
} from '../../../../src/daemon/features/routing/index.ts';
import type { Inference, InferenceEvent } from '../../../../src/daemon/features/upstreams/neutral.ts';
import { fakeWorld } from '../../../support/fake-world.ts';
import { inferenceOf } from '../../../support/inference.ts';
import { offerOf, routeOf } from '../../../support/routing.ts';

const events: InferenceEvent[] = [
  { type: 'item-started', index: 0, item: { kind: 'message' } },
  { type: 'text', index: 0, delta: 'Good ' },
  { type: 'text', index: 0, delta: 'morning' },
  { type: 'item-done', index: 0 },
  { type: 'finished', reason: 'stop' },
];

const secret = 'a private prompt';

function setUp() {
  const world = fakeWorld();
  const rows = new Map<string, CachedAnswer>();
  const store: CacheStore = {
    find: async (workspaceId, digest, now) => {
      const row = rows.get(`${workspaceId} ${digest}`);
      return row && row.expiresAt > now ? row : undefined;
    },
    touch: async () => {},
    put: async (answer) => void rows.set(`${answer.workspaceId} ${answer.digest}`, answer),
    clear: async () => 0,
    size: async () => ({ entries: 0, bytes: 0 }),
    removeExpired: async () => 0,
  };
  const route = routeOf(offerOf('openai'));
  const asked: Inference[] = [];
  const inner: Router<ProviderRoute> = {
    plan: async () => [route],
    countInput: async () => undefined,
    open: async ({ routes: [first], inference }) => {
      asked.push(inference);
      async function* batches() {
        for (const event of events) yield { events: [event], frames: undefined };
      }
      return {
        answer: { kind: 'stream', batches: batches() },
        route: first as ProviderRoute,
        ended: () => {},
      };
    },
  };
  const settings = { defaultMode: 'off', ttlMs: 60_000, entriesMax: 10, bytesMax: 10_000 } as const;
  const router = cachingRouter(inner, { store, world, settings, log: { warn: () => {} } });
  const inference = inferenceOf({ stream: false, body: { input: secret } });

  /** Makes one call and reads its answer. */
  async function call(workspaceId: string, cache: RoutePreferences['cache']) {
    const routes = await router.plan({ inference, inputTokensMax: 100, options: { cache }, workspaceId });
    const { answer, route: answered } = await router.open({
      routes,
      inference,
      outputTokensMaxFor: () => undefined,
      signal: new AbortController().signal,
      attempts: [],
      onAttempt: () => {},
    });
    let text = '';
    if (answer.kind === 'stream')
      for await (const batch of answer.batches)
        for (const event of batch.events) if (event.type === 'text') text += event.delta;
    const isMiss = answered.kind === 'provider' && answered.cacheMiss !== undefined;
    return { cache: isMiss ? 'miss' : answered.kind, text, prices: answered.offer.prices };
  }
  return { world, rows, asked, call };
}

test('an answer is served again until it expires', async () => {
  const { world, asked, call } = setUp();
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'miss', text: 'Good morning' });
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'cache', text: 'Good morning' });
  await world.advance(59_999);
  expect(await call('ws_1', 'read-only')).toMatchObject({ cache: 'cache', prices: { input: 0, output: 0 } });
  await world.advance(1);
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'miss' });
  expect(asked).toHaveLength(2);
});

test('workspaces do not share answers', async () => {
  const { call } = setUp();
  await call('ws_1', 'read-write');
  expect(await call('ws_2', 'read-write')).toMatchObject({ cache: 'miss' });
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'cache' });
});

test('only the digest of a request is stored', async () => {
  const { rows, call } = setUp();
  await call('ws_1', 'read-write');
  expect(rows.size).toBe(1);
  expect(JSON.stringify([...rows])).not.toContain(secret);
});

test('a call without the cache is passed on unchanged', async () => {
  const { asked, rows, call } = setUp();
  expect((await call('ws_1', undefined)).cache).toBe('provider');
  expect(asked[0]?.stream).toBe(false);
  expect(rows.size).toBe(0);
});
