import { describe, expect, onTestFinished, test } from 'vitest';
import { syncWithDaemon } from '../../../src/cli/tui/sync.ts';
import { receivedError } from '../../../src/shared/faults/received-error.ts';
import type { SseEvent } from '../../../src/shared/http/sse.ts';
import { keys, openTui } from '../../support/open-tui.ts';

const at = '2026-11-21T09:00:00.000Z';
const me = { id: 1, handle: 'me', name: 'Me', avatar: '' };
const ann = { id: 2, handle: 'ann', name: 'Ann', avatar: '' };
const bob = { id: 3, handle: 'bob', name: 'Bob', avatar: '' };

function whisper(id: number, sender: typeof me, recipient: typeof me, body: string) {
  return { id, sender, recipient, body, createdAt: at, updatedAt: at, readAt: null };
}

function shout(id: number, body: string) {
  return { id, author: ann, body, zone: 'dev', visibility: 'public', createdAt: at, updatedAt: at };
}

/** A stream that the test writes to. */
function channel() {
  const waiting: SseEvent[] = [];
  let wake = () => {};
  const after: (string | undefined)[] = [];
  return {
    /** The event ID after which each reader started. */
    after,
    send(event: string, data: object, id?: number) {
      waiting.push({
        event,
        data: JSON.stringify(data),
        id: id === undefined ? undefined : String(id),
      } as SseEvent);
      wake();
    },
    async *open(lastId: string | undefined) {
      after.push(lastId);
      for (;;) {
        const next = waiting.shift();
        if (next?.event === 'cut') return;
        if (next) yield next;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

function threadWith(peer: typeof me, id: number, body: string, unread = 1) {
  return { peer, last: whisper(id, peer, me, body), unread };
}

function trace(id: string) {
  return {
    request_id: id,
    created_at: at,
    completed_at: at,
    endpoint: '/v1/responses',
    model: `sim/${id}`,
    provider: 'simulator',
    key: null,
    status: 'completed',
    error_code: null,
    finish_reason: 'stop',
    timings: { admitted_ms: 1, held_ms: null, first_token_ms: 1, total_ms: 2, settled_ms: null },
    attempts: [],
    routes: null,
    tokens: { input: 1, cached_input: 0, cache_write: 0, output: 2, reasoning: 0 },
    tokens_reported: true,
    cost: null,
    charged_usd: '0',
    own_key: false,
    dropped: [],
  };
}

const threadList = 'GET /api/whispers/threads';
const shoutList = 'GET /api/shouts';

describe('shouts', () => {
  test('arrive by a stream after the last loaded one, and resume after the last seen one', async () => {
    const stream = channel();
    const tui = openTui({
      answers: { [shoutList]: () => ({ data: [shout(7, 'old news')] }) },
      streams: { 'GET /api/shouts/stream': stream.open },
    });
    tui.type('gs');
    await tui.shows('old news');
    tui.follow();
    await expect.poll(() => stream.after).toEqual(['7']);
    stream.send('shout.created', shout(8, 'fresh news'), 8);
    await tui.shows(/fresh news.*old news/s);
    stream.send('cut', {});
    await expect.poll(() => stream.after).toEqual(['7', '8']);
  });

  test('whose stream is unavailable are polled', async () => {
    const tui = openTui({
      answers: { [shoutList]: () => ({ data: [shout(7, 'old news')] }) },
      streams: {
        'GET /api/shouts/stream': () => {
          throw new Error('forbidden');
        },
      },
    });
    tui.type('gs');
    await tui.shows('old news');
    tui.follow();
    await tui.shows('✗ not live');
  });

  test('are paused, and counted', async () => {
    const stream = channel();
    const tui = openTui({
      answers: { [shoutList]: () => ({ data: [shout(7, 'old news')] }) },
      streams: { 'GET /api/shouts/stream': stream.open },
    });
    tui.type('gs');
    await tui.shows('old news');
    tui.follow();
    tui.type('p');
    for (const id of [8, 9]) stream.send('shout.created', shout(id, `news ${id}`), id);
    await tui.shows('paused, 2 new');
    expect(tui.frame()).not.toContain('news 9');
    tui.type('p');
    await tui.shows('news 9');
  });
});

describe('whispers', () => {
  function openWhispers() {
    const stream = channel();
    const messages = [whisper(4, ann, me, 'Hello you')];
    const sent: unknown[] = [];
    const tui = openTui({
      answers: {
        [threadList]: () => ({ data: [threadWith(ann, 4, 'Hello you'), threadWith(bob, 3, 'Old', 0)] }),
        'GET /api/whispers': () => ({ data: messages.toReversed() }),
        'PATCH /api/whispers/read-all': () => ({}),
        'POST /api/whispers': ({ body }) => {
          const { recipientHandle } = body as { recipientHandle: string };
          if (!['ann', 'bob'].includes(recipientHandle))
            throw receivedError(404, {}, '{"message":"Not found."}');
          return sent.push(body);
        },
        'GET /v1/workspaces/{workspace}/members': () => ({ data: [], next: null }),
        'GET /v1/threads': () => ({
          data: [{ id: 'th_1', title: 'Trip to Rome', working: false, created_at: at, updated_at: at }],
          next: null,
        }),
      },
      streams: { 'GET /api/whispers/stream': stream.open },
    });
    return { tui, stream, messages, sent };
  }

  test('move the last sender to the top, with one more unread', async () => {
    const { tui, stream } = openWhispers();
    tui.type('gw');
    await tui.shows(/❯ +ann +1 +Hello you/);
    tui.follow();
    stream.send('whisper.created', whisper(5, bob, me, 'New from Bob'), 5);
    await tui.shows(/bob +1 +New from Bob.*ann +1/s);
    stream.send('whisper.created', whisper(6, me, bob, 'My answer'), 6);
    await tui.shows(/bob +1 +you: My answer/);
    expect(tui.lines()[0]).toContain('2 unread');
  });

  test('to someone who does not exist say so', async () => {
    const { tui } = openWhispers();
    tui.type('gw');
    await tui.shows(/❯ +ann/);
    tui.type('c');
    await tui.shows('whisper:');
    tui.type('zoe Hello');
    tui.type(keys.enter);
    await tui.shows('There is no user "zoe".');
  });

  test('of the open conversation arrive live, and a reply goes to its person', async () => {
    const { tui, stream, messages, sent } = openWhispers();
    tui.type('gw');
    await tui.shows(/❯ +ann/);
    tui.follow();
    tui.type(keys.enter);
    await tui.shows('with ann');
    messages.push(whisper(5, ann, me, 'Still there?'));
    stream.send('whisper.created', whisper(5, ann, me, 'Still there?'), 5);
    await tui.shows(/Hello you.*Still there\?/s);
    stream.send('whisper.created', whisper(6, bob, me, 'Me too'), 6);
    tui.type('?');
    await tui.shows(/r +to ann|r +reply/);
    tui.type(keys.escape);
    await tui.shows('› with ann');
    tui.type('r');
    await tui.shows('to ann:');
    tui.type(`Yes.${keys.enter}`);
    await expect.poll(() => sent).toEqual([{ recipientHandle: 'ann', body: 'Yes.' }]);
  });

  test('that are unread open with Alt-A, and any conversation opens by part of its name with Ctrl-P', async () => {
    const { tui } = openWhispers();
    tui.type('gw');
    await tui.shows(/❯ +ann/);
    tui.type('gt');
    tui.type('\u001ba');
    await tui.shows('with ann');
    tui.type('\u0010');
    await tui.shows(/❯ ann +whispers/);
    tui.type('rome');
    await tui.shows(/❯ Trip to Rome +threads/);
    tui.type(keys.ctrlU);
    tui.type(keys.down);
    await tui.shows(/❯ bob/);
    tui.type(keys.enter);
    await tui.shows('with bob');
  });
});

test('the API reference opens in the browser at the call', async () => {
  const tui = openTui({
    answers: {
      [shoutList]: () => ({ data: [] }),
      'GET /v1/openapi.json': () => ({ paths: { '/api/shouts': { get: { operationId: 'listShouts' } } } }),
    },
  });
  tui.type('gs');
  await tui.shows('No shouts yet');
  tui.type('@v');
  await expect.poll(() => tui.browsed).toEqual(['http://127.0.0.1:4100/docs#listShouts']);
});

test('g lists the letters of all screens', async () => {
  const tui = openTui();
  tui.type('g');
  await tui.shows(/o Overview .*t Calls .*k Keys .*u Usage .*m Models/);
  expect(tui.frame()).toMatch(/h Threads .*w Whispers .*s Shouts/);
});

test('the API calls leave out what keeps the screen current, and list what the user asked for', async () => {
  const stream = channel();
  const client: string[] = [];
  let now = Date.parse(at);
  const answer = (name: string, value: object) => ({
    [name]: () => {
      client.push(name);
      return value;
    },
  });
  const keyList = 'GET /v1/workspaces/{workspace}/keys';
  const tui = openTui({
    now: () => now,
    answers: {
      ...answer('GET /v1/key', { workspace: 'ws_1', balance_usd: null }),
      ...answer(keyList, { data: [], next: null }),
    },
    streams: { 'GET /v1/events': stream.open },
  });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  let wake = () => {};
  const sleep = () => new Promise<void>((resolve) => (wake = resolve));
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep });
  await tui.shows('● live');
  tui.type('2');
  await tui.shows('── Keys ');
  const countOf = (name: string) => client.filter((each) => each === name).length;
  await expect.poll(() => countOf(keyList)).toBeGreaterThan(0);
  await expect.poll(() => tui.state.view.isLoading).toBe(false);
  const [listed, keysLoaded, keyLoaded] = [tui.log.rows().length, countOf(keyList), countOf('GET /v1/key')];
  now += 20_000;
  wake();
  await expect
    .poll(() => [countOf(keyList), countOf('GET /v1/key')])
    .toEqual([keysLoaded + 1, keyLoaded + 1]);
  stream.send('message', { type: 'key.issued', sequence: 9, created_at: at, data: { key: 'key_1' } }, 9);
  await expect.poll(() => countOf(keyList)).toBe(keysLoaded + 2);
  expect(tui.log.rows()).toHaveLength(listed);
  await expect.poll(() => tui.state.view.isLoading).toBe(false);
  tui.type(':refresh\r');
  await expect.poll(() => tui.log.rows().length).toBeGreaterThan(listed);
  const added = tui.log.rows().slice(0, -listed);
  expect(added.map(({ template }) => template)).toContain('/v1/workspaces/{workspace}/keys');
});

test('alerts that fire are in a line above the keys, from the event on until it ends', async () => {
  const stream = channel();
  let firing: object[] = [];
  const tui = openTui({
    rows: 24,
    answers: {
      'GET /v1/key': () => ({ workspace: 'ws_1', balance_usd: null }),
      'GET /v1/workspaces/{workspace}/alerts/fired': () => ({ data: firing, next: null }),
    },
    streams: { 'GET /v1/events': stream.open },
  });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep: () => new Promise(() => {}) });
  await tui.shows('● live');
  expect(tui.frame()).not.toContain('alert ');
  firing = [
    { alert: 'slow', message: `Too \u001b[2Jslow${' and slow'.repeat(20)}.` },
    { alert: 'dear', message: 'Too dear.' },
  ];
  stream.send('message', { type: 'alert.fired', sequence: 2, created_at: at, data: { alert: 'slow' } }, 2);
  await tui.shows(/alert slow: Too \S+slow.*… \(and 1 more: gateway alerts\)/);
  expect(tui.lines()).toHaveLength(24);
  for (const line of tui.lines()) expect(line.length).toBeLessThanOrEqual(80);
  firing = [];
  stream.send('message', { type: 'alert.resolved', sequence: 3, created_at: at, data: { alert: 'slow' } }, 3);
  await expect.poll(() => tui.frame()).not.toContain('alert slow');
});

test('for screen readers past requests are listed, and new ones are counted until resumed', async () => {
  const stream = channel();
  const tui = openTui({
    isPlain: true,
    answers: { 'GET /v1/traces': () => ({ data: [trace('before')], next: null }) },
    streams: { 'GET /v1/events': stream.open },
  });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep: () => new Promise(() => {}) });
  await tui.shows(/sim\/before/);
  await tui.shows('paused, 0 new');
  const created_at = at;
  const data = { request_id: 'req_2', model: 'sim/after', status: 'completed' };
  stream.send('message', { type: 'request.completed', sequence: 2, created_at, data }, 2);
  await tui.shows('paused, 1 new');
  expect(tui.frame()).not.toContain('sim/after');
  tui.type('p');
  await tui.shows('sim/after');
});

test('the page of a running request counts up, and shows the trace once it ends', async () => {
  const stream = channel();
  let now = Date.parse(at) + 2000;
  let isFinished = false;
  const tui = openTui({
    now: () => now,
    answers: {
      'GET /v1/traces': () => ({ data: [], next: null }),
      'GET /v1/traces/{request_id}': () => {
        if (isFinished) return trace('req_1');
        throw receivedError(404, {}, JSON.stringify({ error: { code: 'not_found', message: 'Not found.' } }));
      },
    },
    streams: { 'GET /v1/events': stream.open },
  });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep: () => new Promise(() => {}) });
  const data = { request_id: 'req_1', model: 'sim/slow' };
  stream.send('message', { type: 'request.started', sequence: 1, created_at: at, data }, 1);
  await tui.shows(/running +sim\/slow/);
  tui.type(keys.enter);
  await tui.shows(/status +running.*total +2\.00 s/s);
  now += 1000;
  tui.state.changed();
  await tui.shows(/total +3\.00 s/);
  isFinished = true;
  const end = { ...data, status: 'completed', total_ms: 3100 };
  stream.send('message', { type: 'request.completed', sequence: 2, created_at: at, data: end }, 2);
  await tui.shows(/status +completed/);
});
