import { expect, test } from 'vitest';
import {
  type CachedAnswer,
  type CacheStore,
  cachingRouter,
} from '../../../src/daemon/features/cache/index.ts';
import type {
  Inference,
  InferenceEvent,
  Route,
  Router,
  ServiceOptions,
} from '../../../src/daemon/features/inference/index.ts';
import { fakeWorld } from '../../support/fake-world.ts';

const events: InferenceEvent[] = [
  { type: 'item-started', index: 0, item: { kind: 'message' } },
  { type: 'text', index: 0, delta: 'Good ' },
  { type: 'text', index: 0, delta: 'morning' },
  { type: 'item-done', index: 0 },
  { type: 'finished', reason: 'stop' },
];

const secret = 'a prompt that nobody else may read';

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
  const route: Route = {
    provider: 'openai',
    providerModel: 'gpt',
    ownKey: false,
    offer: { model: 'openai/gpt', prices: null, contextLength: null, outputTokensMax: null, wires: ['chat'] },
  };
  const asked: Inference[] = [];
  const inner: Router = {
    plan: async () => [route],
    open: async ({ routes: [first], inference }) => {
      asked.push(inference);
      async function* batches() {
        for (const event of events) yield { events: [event], frames: undefined };
      }
      return { answer: { kind: 'stream', batches: batches() }, route: first as Route, ended: () => {} };
    },
  };
  const settings = { defaultMode: 'off', keptMs: 60_000, entriesMax: 10, bytesMax: 10_000 } as const;
  const router = cachingRouter(inner, { store, world, settings, log: { warn: () => {} } });
  const inference = {
    model: 'gpt',
    stream: false,
    items: [],
    body: { input: secret },
  } as unknown as Inference;

  /** One call to its end: how the cache stood to it, and its text. */
  async function call(workspaceId: string, cache: ServiceOptions['cache']) {
    const options = { cache } as ServiceOptions;
    const routes = await router.plan({ inference, options, workspaceId });
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
    return { cache: answered.cache, text, prices: answered.offer.prices };
  }
  return { world, rows, asked, call };
}

test('an answer is given again until its time is over', async () => {
  const { world, asked, call } = setUp();
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'miss', text: 'Good morning' });
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'hit', text: 'Good morning' });
  await world.advance(59_999);
  expect(await call('ws_1', 'read-only')).toMatchObject({ cache: 'hit', prices: { input: 0, output: 0 } });
  await world.advance(1);
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'miss' });
  expect(asked).toHaveLength(2);
});

test('a workspace never gets the answers of another', async () => {
  const { call } = setUp();
  await call('ws_1', 'read-write');
  expect(await call('ws_2', 'read-write')).toMatchObject({ cache: 'miss' });
  expect(await call('ws_1', 'read-write')).toMatchObject({ cache: 'hit' });
});

test('nothing of a request is kept but its digest', async () => {
  const { rows, call } = setUp();
  await call('ws_1', 'read-write');
  expect(rows.size).toBe(1);
  expect(JSON.stringify([...rows])).not.toContain(secret);
});

test('a call that does not want the cache is passed on as it is', async () => {
  const { asked, rows, call } = setUp();
  expect((await call('ws_1', undefined)).cache).toBeUndefined();
  expect(asked[0]?.stream).toBe(false);
  expect(rows.size).toBe(0);
});
