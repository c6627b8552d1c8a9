import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../../src/daemon/base/handler.ts';
import {
  createEventFeed,
  type EventFeed,
  eventHandlers,
  hostEvents,
} from '../../../../src/daemon/features/events/index.ts';
import { type EventView, streamEvents } from '../../../../src/shared/contract/events.ts';
import { SseReader } from '../../../../src/shared/http/sse.ts';
import { callHandler, streamOf } from '../../../support/call-handler.ts';
import { type FakeWorld, fakeWorld, settled } from '../../../support/fake-world.ts';
import { memoryEventsStore } from '../../../support/memory-stores.ts';

let world: FakeWorld;
let store: ReturnType<typeof memoryEventsStore>;
let feed: EventFeed;
let revocation: AbortController;

beforeEach(() => {
  world = fakeWorld();
  store = memoryEventsStore();
  feed = createEventFeed({ store, world, queueMax: 10 });
  revocation = new AbortController();
  isDaemonOwner = false;
});

let isDaemonOwner: boolean;
const handlers = () => eventHandlers({ feed, world, isDaemonOwner: async () => isDaemonOwner });

const caller = (workspaceId = 'ws_acme'): Caller => ({
  kind: 'login',
  loginId: 'key_login',
  userId: 'usr_ann',
  workspaceId,
  revoked: revocation.signal,
});

const event = (n: number, workspaceId = 'ws_acme') => ({
  type: 'request.completed',
  workspaceId,
  at: world.now(),
  data: { n },
});

interface From {
  after?: number;
  type?: string;
  key?: string;
  lastEventId?: string;
  digest?: number;
  rows?: number;
  workspaceId?: string;
}

/** Reads the stream in the background. */
async function follow(from: From = {}) {
  const leave = new AbortController();
  const chunks = await streamOf(handlers(), streamEvents, {
    caller: caller(from.workspaceId),
    query: {
      ...(from.after !== undefined && { after: from.after }),
      ...(from.type !== undefined && { type: from.type }),
      ...(from.key !== undefined && { key: from.key }),
      ...(from.digest !== undefined && { digest: from.digest }),
      ...(from.rows !== undefined && { rows: from.rows }),
    },
    headers: from.lastEventId === undefined ? {} : { 'last-event-id': from.lastEventId },
    signal: leave.signal,
  });
  const raw: string[] = [];
  const reading = (async () => {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) raw.push(next.value);
  })();
  await settled();
  const events = () => {
    const bytes = new TextEncoder().encode(raw.join(''));
    return new SseReader()
      .push(bytes)
      .map(({ event: type, id, data }) => ({ type, id, view: JSON.parse(data) as EventView }));
  };
  return { leave, reading, raw, events, numbers: () => events().map(({ view }) => view.data.n) };
}

describe('following events', () => {
  test('opens the stream before any event', async () => {
    expect((await follow()).raw).toEqual([': following\n\n']);
  });

  test('sends stored events with an id to resume from, and live ones without', async () => {
    const reader = await follow();
    feed.publish({ type: 'request.started', workspaceId: 'ws_acme', data: { request_id: 'req_1' } });
    await feed.record(event(1));
    await settled();
    expect(reader.raw.slice(1).join('')).toBe(
      'event: request.started\n' +
        'data: {"type":"request.started","sequence":null,"created_at":"2026-11-21T08:00:00.000Z","data":{"request_id":"req_1"}}\n\n' +
        'id: 1\nevent: request.completed\n' +
        'data: {"type":"request.completed","sequence":1,"created_at":"2026-11-21T08:00:00.000Z","data":{"n":1}}\n\n',
    );
  });

  test('sends one event per frame, whatever its data', async () => {
    const reader = await follow();
    const nasty = 'a\r\nid: 9\n\ndata: x\u2028\r';
    await feed.record({ ...event(1), data: { text: nasty } });
    await settled();
    expect(reader.events()).toMatchObject([{ id: '1', view: { data: { text: nasty } } }]);
  });

  test('starts now unless asked to resume', async () => {
    for (let n = 1; n <= 3; n += 1) await feed.record(event(n));
    const fresh = await follow();
    const resumed = await follow({ after: 1 });
    await feed.record(event(4));
    await settled();
    expect(fresh.numbers()).toEqual([4]);
    expect(resumed.numbers()).toEqual([2, 3, 4]);
  });

  test('prefers Last-Event-ID over `after`', async () => {
    for (let n = 1; n <= 3; n += 1) await feed.record(event(n));
    const reader = await follow({ after: 0, lastEventId: '2' });
    expect(reader.numbers()).toEqual([3]);
  });

  test('starts now for an id in the future', async () => {
    await feed.record(event(1));
    const reader = await follow({ after: 1000 });
    await feed.record(event(2));
    await settled();
    expect(reader.numbers()).toEqual([2]);
  });

  test.each(['abc', '-1', '1.5', '9'.repeat(20)])('rejects the Last-Event-ID %s', async (id) => {
    const asked = callHandler(handlers(), streamEvents, {
      caller: caller(),
      headers: { 'last-event-id': id },
    });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_request', param: 'last-event-id' });
  });

  test('reads many events in pages, in order', async () => {
    for (let n = 1; n <= 450; n += 1) await store.append(event(n));
    const reader = await follow({ after: 0 });
    await settled();
    expect(reader.numbers()).toEqual(Array.from({ length: 450 }, (_, i) => i + 1));
  });

  test('never mixes workspaces', async () => {
    const reader = await follow();
    await feed.record(event(1, 'ws_other'));
    feed.publish({ type: 'request.started', workspaceId: 'ws_other', data: {} });
    await feed.record(event(2));
    await settled();
    expect(reader.numbers()).toEqual([2]);
  });

  test('has neither gaps nor duplicates, in any order of commits, announcements and reconnections', async () => {
    const step = fc.constantFrom('commit', 'announce', 'wait', 'reconnect');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        store = memoryEventsStore();
        feed = createEventFeed({ store, world });
        let reader = await follow({ after: 0 });
        const seen: unknown[] = [];
        let committed = 0;
        for (const what of steps) {
          if (what === 'commit') await store.append(event(++committed));
          else if (what === 'announce') feed.announce({ workspaceId: 'ws_acme' });
          else if (what === 'wait') await settled();
          else {
            reader.leave.abort();
            await reader.reading;
            seen.push(...reader.numbers());
            const lastEventId = reader.events().at(-1)?.id ?? `${seen.at(-1) ?? 0}`;
            reader = await follow({ lastEventId });
          }
        }
        feed.announce({ workspaceId: 'ws_acme' });
        await settled();
        seen.push(...reader.numbers());
        expect(seen).toEqual(Array.from({ length: committed }, (_, i) => i + 1));
      }),
    );
  });

  test('sends the start of a call before its end', async () => {
    const late = Promise.withResolvers<void>();
    const slowStore = {
      ...store,
      after: async (workspaceIds: readonly string[], sequence: number, limit: number) => {
        await late.promise;
        return await store.after(workspaceIds, sequence, limit);
      },
    };
    feed = createEventFeed({ store: slowStore, world });
    const reader = await follow({ after: 0 });
    feed.publish({ type: 'request.started', workspaceId: 'ws_acme', data: { n: 0 } });
    await feed.record(event(1));
    late.resolve();
    await settled();
    expect(reader.numbers()).toEqual([0, 1]);
  });
});

test('events of the host reach its owner alone', async () => {
  const other = await follow();
  isDaemonOwner = true;
  const owner = await follow();
  await feed.record({ ...event(1), workspaceId: hostEvents });
  await feed.record(event(2));
  await settled();
  expect(owner.numbers()).toEqual([1, 2]);
  expect(other.numbers()).toEqual([2]);
});

describe('a slow reader', () => {
  test('gets the number of dropped live events, and misses no stored one', async () => {
    const chunks = await streamOf(handlers(), streamEvents, { caller: caller() });
    await chunks.next();
    const first = chunks.next();
    await feed.record(event(0));
    await first;
    for (let n = 1; n <= 25; n += 1) {
      feed.publish({ type: 'request.started', workspaceId: 'ws_acme', data: { n } });
      await feed.record(event(n));
    }
    const { value } = await chunks.next();
    const views = new SseReader()
      .push(new TextEncoder().encode(value))
      .map(({ data }) => JSON.parse(data) as EventView);
    expect(views.filter(({ type }) => type === 'request.started')).toHaveLength(10);
    expect(views.find(({ type }) => type === 'events.dropped')).toMatchObject({
      sequence: null,
      data: { count: 15 },
    });
    expect(views.filter(({ sequence }) => sequence !== null).map(({ data }) => data.n)).toEqual(
      Array.from({ length: 25 }, (_, i) => i + 1),
    );
  });
});

describe('a stream ends', () => {
  test('when its reader leaves', async () => {
    const reader = await follow();
    reader.leave.abort();
    await reader.reading;
  });

  test('when the credential is revoked, and not before', async () => {
    const reader = await follow();
    await feed.record(event(1));
    await settled();
    revocation.abort();
    await reader.reading;
    expect(reader.numbers()).toEqual([1]);
  });

  test('when the feed is closed, also for later readers', async () => {
    const reader = await follow();
    feed.close();
    await reader.reading;
    const late = await follow();
    await late.reading;
    expect(late.numbers()).toEqual([]);
  });
});

test('events are stored for a day', async () => {
  const end = new AbortController();
  const failures: unknown[] = [];
  const pruning = feed.keepPruned(end.signal, (error) => failures.push(error));
  await feed.record(event(1));
  await world.advance(12 * 60 * 60 * 1000);
  await feed.record(event(2));
  expect(store.kept).toHaveLength(2);
  await world.advance(13 * 60 * 60 * 1000);
  expect(store.kept.map(({ data }) => data.n)).toEqual([2]);
  end.abort();
  await pruning;
  expect(failures).toEqual([]);
});

test('a failure to store an event is not passed on', async () => {
  const failures: unknown[] = [];
  store.append = () => Promise.reject(new Error('disk full'));
  await feed.record(event(1), (error) => failures.push(error));
  expect(failures).toHaveLength(1);
});

describe('a gap', () => {
  const typesOf = (events: { type?: string | undefined }[]) => events.map(({ type }) => type);

  test('is reported only to readers that resume before it', async () => {
    for (let n = 1; n <= 6; n += 1) await store.append(event(n));
    await store.prune(0, 3);
    const late = await follow({ lastEventId: '1' });
    expect(typesOf(late.events())).toEqual(['events.gap', ...Array(3).fill('request.completed')]);
    expect(late.events()[0]).toMatchObject({ id: undefined, view: { sequence: null, data: { after: 1 } } });
    for (const from of [{ lastEventId: '3' }, { lastEventId: '6' }, {}]) {
      expect(typesOf((await follow(from)).events())).not.toContain('events.gap');
    }
  });

  test('is reported if no event is left', async () => {
    for (let n = 1; n <= 3; n += 1) await store.append(event(n));
    await store.prune(world.now() + 1, 100);
    expect(typesOf((await follow({ after: 1 })).events())).toEqual(['events.gap']);
    expect(typesOf((await follow({ after: 3 })).events())).toEqual([]);
  });
});

test('a reader can filter by types and by key', async () => {
  const at = world.now();
  const reported: [type: string, key: string][] = [
    ['request.completed', 'key_1'],
    ['request.failed', 'key_2'],
    ['key.revoked', 'key_1'],
    ['requests.other', 'key_1'],
  ];
  for (const [type, key] of reported) await store.append({ type, workspaceId: 'ws_acme', at, data: { key } });
  const sequences = async (from: From) =>
    (await follow({ after: 0, ...from })).events().map(({ view }) => view.sequence);
  expect(await sequences({ type: 'request.*' })).toEqual([1, 2]);
  expect(await sequences({ type: 'request.failed,key.revoked' })).toEqual([2, 3]);
  expect(await sequences({ key: 'key_1' })).toEqual([1, 3, 4]);
  expect(await sequences({ type: 'request.*', key: 'key_1' })).toEqual([1]);
});

test('many followers share what is read and rendered, and are served in groups', async () => {
  let reads = 0;
  const counting = {
    ...store,
    after: (...position: Parameters<typeof store.after>) => {
      reads += 1;
      return store.after(...position);
    },
  };
  feed = createEventFeed({ store: counting, world });
  const readers = await Promise.all(Array.from({ length: 1_000 }, () => follow()));
  reads = 0;
  feed.publish({ type: 'request.started', workspaceId: 'ws_acme', data: { n: 0 } });
  await feed.record(event(1));
  await settled();
  const served = () => readers.filter(({ raw }) => raw.length > 1).length;
  // The rest of the process goes on before the others are.
  expect(served()).toBeLessThan(300);
  for (let group = 0; group < 30; group += 1) await world.advance(1);
  expect(served()).toBe(1_000);
  // Each gets what happened within a moment in one piece, which is one write of its connection.
  expect(readers.filter(({ raw }) => raw.length > 2)).toEqual([]);
  expect(readers.map((reader) => reader.numbers())).toEqual(readers.map(() => [0, 1]));
  expect(reads).toBe(1);
});

describe('a digest', () => {
  const started = (id: string) =>
    feed.publish({ type: 'request.started', workspaceId: 'ws_acme', data: { request_id: id, model: 'm' } });
  const ended = (id: string, data: Record<string, unknown> = {}) =>
    feed.record({
      ...event(0),
      data: {
        request_id: id,
        status: 'completed',
        error_code: null,
        input_tokens: 10,
        output_tokens: 5,
        cost_usd: '0.001',
        ttft_ms: 20,
        total_ms: 100,
        ...data,
      },
    });

  test('replaces the events of calls, once a second while something happens', async () => {
    const reader = await follow({ digest: 1_000, rows: 2 });
    expect(reader.raw).toEqual([': following\n\n']);
    for (const id of ['req_1', 'req_2', 'req_3', 'req_4']) started(id);
    await ended('req_1');
    await ended('req_2', { status: 'failed', error_code: 'no_route', cost_usd: null, ttft_ms: null });
    await ended('req_3', { total_ms: 300, ttft_ms: 40 });
    await settled();
    expect(reader.events()).toEqual([]);
    await world.advance(1_000);
    await settled();
    expect(reader.events()).toMatchObject([
      {
        type: 'calls.digest',
        id: '3',
        view: {
          sequence: 3,
          data: {
            started: 4,
            finished: 3,
            statuses: { completed: 2, failed: 1 },
            errors: { no_route: 1 },
            input_tokens: 30,
            output_tokens: 15,
            cost_usd: '0.002',
            first_token_ms: { p50: 20, p95: 40 },
            total_ms: { p50: 100, p95: 300 },
            rows: [{ request_id: 'req_3' }, { request_id: 'req_2' }],
            running: 1,
            running_rows: [{ request_id: 'req_4', model: 'm' }],
          },
        },
      },
    ]);
    await world.advance(5_000);
    await settled();
    expect(reader.events()).toHaveLength(1);
    await ended('req_4');
    await settled();
    await world.advance(1_000);
    await settled();
    expect(reader.events().at(-1)?.view.data).toMatchObject({ started: 0, finished: 1, running: 0 });
  });

  test('counts the rejected calls that have no event of their own', async () => {
    const reader = await follow({ digest: 1_000 });
    await ended('req_1', { status: 'rejected', error_code: 'limit_reached', more: 35 });
    await ended('req_2', { status: 'rejected', error_code: 'limit_reached', more: 0 });
    await settled();
    await world.advance(1_000);
    await settled();
    expect(reader.events().at(-1)?.view.data).toMatchObject({
      finished: 37,
      statuses: { rejected: 37 },
      errors: { limit_reached: 37 },
    });
  });

  test('lets other events pass, after what came before them', async () => {
    const reader = await follow({ digest: 1_000 });
    await ended('req_1');
    await feed.record({ ...event(0), type: 'key.revoked', data: { key: 'key_1' } });
    await settled();
    expect(reader.events().map(({ type, id }) => [type, id])).toEqual([
      ['calls.digest', '1'],
      ['key.revoked', '2'],
    ]);
  });

  test('ends with the reader, and leaves nothing behind', async () => {
    const reader = await follow({ digest: 1_000 });
    started('req_1');
    await settled();
    reader.leave.abort();
    await reader.reading;
    expect(feed.followers()).toBe(0);
  });
});
