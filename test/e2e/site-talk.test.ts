import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SseReader } from '../../src/shared/http/sse.ts';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { type AskOptions, addPerson, askDaemon, type Person } from '../support/users.ts';

let daemon: RunningDaemon;
let ann: Person;
let max: Person;
let eve: Person;
/** People whose lists no test counts: those without a credential share a rate, and making people takes of it. */
let anyone: Person;
let someone: Person;
let added = 0;

beforeAll(async () => {
  daemon = await startDaemon();
  anyone = await addPerson(daemon, 'anyone');
  someone = await addPerson(daemon, 'someone');
});

/** People of a test's own, as every list begins empty for them. */
async function newPeople(): Promise<void> {
  added += 1;
  ann = await addPerson(daemon, `ann-${added}`);
  max = await addPerson(daemon, `max-${added}`);
  eve = await addPerson(daemon, `eve-${added}`);
}

afterAll(async () => {
  await daemon.stop();
});

const ask = (method: string, path: string, options: AskOptions = {}) =>
  askDaemon(daemon, method, path, options);
const whisper = async (from: Person, to: Person, body = 'Hello.') => {
  const json = { body, recipientHandle: to.handle };
  const reported = await ask('POST', '/api/whispers', { as: from.login, json });
  expect(reported.status).toBe(200);
  return reported.body.data;
};
const shout = async (from: Person, json: object) => {
  const reported = await ask('POST', '/api/shouts', { as: from.login, json });
  expect([reported.status, reported.body.errors]).toEqual([200, undefined]);
  return reported.body.data;
};
const idsOf = (body: { data: { id: number }[] }) => body.data.map(({ id }) => id);
const invalid = (field: string) => ({
  status: 422,
  body: {
    message: 'The given data was invalid.',
    errors: { [field]: expect.arrayContaining([expect.stringMatching(/\.$/)]) },
  },
});
const unauthorized = { status: 403, body: { message: 'This action is unauthorized.' } };
const notFound = { status: 404, body: { message: 'Not found.' } };

interface Answer {
  event: string;
  id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind.
  data: any;
}

/** Follows a stream until it ends or is left. */
async function follow(path: string, { as, after }: { as?: string; after?: number } = {}) {
  const leaving = new AbortController();
  const answer = await fetch(daemon.url + path, {
    signal: leaving.signal,
    headers: {
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...(after !== undefined && { 'last-event-id': String(after) }),
    },
  });
  const seen: Answer[] = [];
  const reader = new SseReader();
  const body = answer.body?.getReader();
  const read = async (): Promise<boolean> => {
    const { value, done } = (await body?.read()) ?? { done: true, value: undefined };
    if (value)
      for (const { event, id, data } of reader.push(value)) seen.push({ event, id, data: JSON.parse(data) });
    return !done;
  };
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    seen,
    async until(count: number): Promise<Answer[]> {
      while (seen.length < count && (await read()));
      return seen;
    },
    async end(): Promise<void> {
      while (await read());
    },
    disconnect: () => leaving.abort(),
  };
}

const userFields = ['avatar', 'handle', 'id', 'name'];

describe('whispers', () => {
  beforeEach(newPeople);

  const fields = ['body', 'createdAt', 'id', 'readAt', 'recipient', 'sender', 'updatedAt'];

  test('have the documented fields', async () => {
    const sent = await whisper(ann, max);
    const { body: got } = await ask('GET', `/api/whispers/${sent.id}`, { as: max.login });
    const { body: list } = await ask('GET', '/api/whispers', { as: max.login });
    expect(Object.keys(list)).toEqual(['data', 'meta']);
    expect(Object.keys(list.meta)).toEqual(['nextCursor', 'with']);
    for (const one of [sent, got.data, list.data[0]]) {
      expect(Object.keys(one).toSorted()).toEqual(fields);
      expect(Object.keys(one.sender).toSorted()).toEqual(userFields);
      expect(Object.keys(one.recipient).toSorted()).toEqual(userFields);
      expect(one).toMatchObject({
        readAt: null,
        sender: { handle: ann.handle },
        recipient: { handle: max.handle },
      });
      expect(Number.isSafeInteger(one.id)).toBe(true);
    }
  });

  test('are listed newest first, page by page, all or with one person', async () => {
    const one = await whisper(ann, max, 'one');
    const two = await whisper(max, ann, 'two');
    const three = await whisper(eve, ann, 'three');
    const list = async (query: string) => (await ask('GET', `/api/whispers${query}`, { as: ann.login })).body;
    expect(idsOf(await list(''))).toEqual([three.id, two.id, one.id]);
    const page = await list('?limit=2');
    expect([idsOf(page), page.meta.nextCursor]).toEqual([[three.id, two.id], String(two.id)]);
    const rest = await list(`?limit=2&before_id=${page.meta.nextCursor}`);
    expect([idsOf(rest), rest.meta.nextCursor]).toEqual([[one.id], null]);
    for (const name of [max.handle, max.handle.toUpperCase(), String(two.sender.id)]) {
      const thread = await list(`?with=${name}`);
      expect([idsOf(thread), thread.meta.with]).toEqual([[two.id, one.id], max.handle]);
    }
    expect((await list('')).meta.with).toBeNull();
    expect(idsOf((await ask('GET', '/api/whispers?limit=500', { as: eve.login })).body)).toEqual([three.id]);
  });

  test('come in pages of at most 200', async () => {
    for (let count = 0; count < 201; count += 1) await whisper(ann, max);
    const { body } = await ask('GET', '/api/whispers?limit=100000', { as: max.login });
    expect(body.data).toHaveLength(200);
    expect((await ask('GET', '/api/whispers', { as: max.login })).body.data).toHaveLength(50);
  });

  test('are marked read by their recipient only, keeping the first time', async () => {
    const { id } = await whisper(ann, max);
    const read = (as: string) => ask('PATCH', `/api/whispers/${id}/read`, { as });
    expect(await read(ann.login)).toEqual(unauthorized);
    expect(await read(eve.login)).toEqual(notFound);
    const { body: first } = await read(max.login);
    expect(first.data.readAt).toMatch(/Z$/);
    expect((await read(max.login)).body).toEqual(first);
    expect((await ask('GET', `/api/whispers/${id}`, { as: ann.login })).body).toEqual(first);
  });

  test('of other users are not found, like those that do not exist', async () => {
    const { id } = await whisper(ann, max);
    for (const path of [String(id), '99999999', '0', '-1', 'x', '1e3']) {
      expect([path, await ask('GET', `/api/whispers/${path}`, { as: eve.login })]).toEqual([path, notFound]);
    }
  });

  test('are counted as unread per sender, and marked read all together', async () => {
    await whisper(ann, max, 'one');
    await whisper(ann, max, 'two');
    await whisper(max, ann, 'three');
    await whisper(eve, max, 'four');
    const threads = async () => {
      const { body } = await ask('GET', '/api/whispers/threads', { as: max.login });
      return body.data.map(({ peer, last, unread }: Answer['data']) => [peer.handle, last.body, unread]);
    };
    expect(await threads()).toEqual([
      [eve.handle, 'four', 1],
      [ann.handle, 'three', 2],
    ]);
    const readAll = (query: string) => ask('PATCH', `/api/whispers/read-all${query}`, { as: max.login });
    expect((await readAll(`?with=${ann.handle}`)).body).toEqual({ data: { readCount: 2 } });
    expect((await threads()).map((row: unknown[]) => row[2])).toEqual([1, 0]);
    expect((await readAll('')).body).toEqual({ data: { readCount: 1 } });
    expect((await readAll('')).body).toEqual({ data: { readCount: 0 } });
  });

  test('are streamed to both sides when sent and when read', async () => {
    const streams = [await follow('/api/whispers/stream', { as: ann.login })];
    streams.push(await follow('/api/whispers/stream', { as: max.login }));
    const others = await follow('/api/whispers/stream', { as: eve.login });
    expect(streams[0]?.type).toBe('text/event-stream; charset=utf-8');
    const { id } = await whisper(ann, max);
    await ask('PATCH', `/api/whispers/${id}/read`, { as: max.login });
    for (const stream of streams) {
      const seen = await stream.until(2);
      expect(seen.map(({ event, data }) => [event, data.id])).toEqual([
        ['whisper.created', id],
        ['whisper.read', id],
      ]);
      expect(seen[0]?.id).toBe(String(id));
      expect(seen[1]?.data.readAt).toMatch(/Z$/);
      stream.disconnect();
    }
    const last = await whisper(max, eve);
    expect(idsOf({ data: (await others.until(1)).map(({ data }) => data) })).toEqual([last.id]);
    others.disconnect();
  });

  test('resume after the last one seen, with none missing', async () => {
    const { id } = await whisper(ann, max, 'seen');
    const missed: number[] = [];
    for (let count = 0; count < 250; count += 1) missed.push((await whisper(ann, max, 'missed')).id);
    const stream = await follow('/api/whispers/stream', { as: max.login, after: id });
    const seen = await stream.until(250);
    expect(seen.map(({ id: reported }) => Number(reported))).toEqual(missed);
    const next = await whisper(max, ann, 'next');
    expect((await stream.until(251)).at(-1)?.data.id).toBe(next.id);
    stream.disconnect();
  });

  test('stop streaming once the token is revoked or expires', async () => {
    const { id, secret } = await newToken(daemon, ann.login, ['whispers:read']);
    const stream = await follow('/api/whispers/stream', { as: secret });
    await ask('DELETE', `/api/tokens/${id}`, { as: ann.login });
    await stream.end();
    expect(stream.seen).toEqual([]);
  });

  test('require the ability to read or to write', async () => {
    const { secret: reading } = await newToken(daemon, ann.login, ['whispers:read']);
    const { secret: writing } = await newToken(daemon, ann.login, ['whispers:write']);
    const json = { body: 'Hello.', recipientHandle: max.handle };
    expect((await ask('GET', '/api/whispers', { as: reading })).status).toBe(200);
    expect(await ask('POST', '/api/whispers', { as: reading, json })).toEqual(unauthorized);
    expect(await ask('GET', '/api/whispers', { as: writing })).toEqual(unauthorized);
    expect((await ask('POST', '/api/whispers', { as: writing, json })).status).toBe(200);
  });

  test('stay with their recipient when the sender is deleted', async () => {
    const { id } = await whisper(ann, max, 'Keep this.');
    const json = { email: `${ann.handle}@example.com` };
    await ask('PATCH', '/api/settings/profile', { as: ann.login, json });
    expect((await ask('DELETE', '/api/settings/profile', { as: ann.login, json })).status).toBe(200);
    const { body } = await ask('GET', `/api/whispers/${id}`, { as: max.login });
    expect(body.data).toMatchObject({ body: 'Keep this.', sender: { name: 'Deleted user' } });
    const reply = { body: 'Still there?', recipientId: body.data.sender.id };
    expect(await ask('POST', '/api/whispers', { as: max.login, json: reply })).toEqual(notFound);
  });
});

describe('shouts', () => {
  beforeEach(newPeople);

  const fields = ['author', 'body', 'createdAt', 'id', 'updatedAt', 'visibility', 'zone'];
  const zone = () => `zone-${added}`;

  test('have the documented fields, for everyone', async () => {
    const posted = await shout(ann, { body: 'Hear me!', zone: zone().toUpperCase() });
    const { body: got } = await ask('GET', `/api/shouts/${posted.id}`);
    const { body: list } = await ask('GET', `/api/shouts?zone=${zone()}`);
    for (const one of [posted, got.data, list.data[0]]) {
      expect(Object.keys(one).toSorted()).toEqual(fields);
      expect(Object.keys(one.author).toSorted()).toEqual(userFields);
      expect(one).toMatchObject({ body: 'Hear me!', zone: zone(), visibility: 'public' });
    }
    expect((await shout(ann, { body: 'Anywhere.' })).zone).toBe('global');
    expect((await shout(ann, { body: 'Anywhere.', zone: '' })).zone).toBe('global');
  });

  test('are listed newest first, by zone, page and time', async () => {
    const posted = [];
    for (const body of ['one', 'two', 'three']) posted.push(await shout(ann, { body, zone: zone() }));
    await shout(max, { body: 'elsewhere', zone: `${zone()}-b` });
    const list = async (query: string) => (await ask('GET', `/api/shouts?zone=${zone()}${query}`)).body;
    const ids = posted.map(({ id }) => id).toReversed();
    expect(idsOf(await list(''))).toEqual(ids);
    const page = await list('&limit=2');
    expect([idsOf(page), page.meta]).toEqual([ids.slice(0, 2), { nextCursor: String(ids[1]) }]);
    expect(idsOf(await list(`&limit=2&before_id=${page.meta.nextCursor}`))).toEqual(ids.slice(2));
    expect(idsOf(await list(`&since=${posted[0].createdAt}`))).toEqual(ids);
    expect(idsOf(await list('&since=2099-01-01T00:00:00Z'))).toEqual([]);
    expect(await ask('GET', '/api/shouts?since=yesterday')).toEqual(invalid('since'));
    expect(await ask('GET', '/api/shouts?zone=a%20b')).toEqual(invalid('zone'));
  });

  test('are limited to 30 a minute per user', async () => {
    for (let count = 0; count < 30; count += 1) await shout(ann, { body: 'again', zone: zone() });
    const answer = await fetch(`${daemon.url}/api/shouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ body: 'too many' }),
    });
    expect([answer.status, await answer.json()]).toEqual([429, { message: 'At most 30 shouts per minute.' }]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(50);
    expect((await shout(max, { body: 'not me' })).body).toBe('not me');
  });

  test('are deleted by their author only', async () => {
    const { id } = await shout(ann, { body: 'Oh.' });
    expect(await ask('DELETE', `/api/shouts/${id}`, { as: max.login })).toEqual(unauthorized);
    expect((await ask('DELETE', `/api/shouts/${id}`)).status).toBe(401);
    expect((await ask('DELETE', `/api/shouts/${id}`, { as: ann.login })).body).toEqual({
      data: { deleted: true },
    });
    expect(await ask('DELETE', `/api/shouts/${id}`, { as: ann.login })).toEqual(notFound);
    expect(await ask('GET', `/api/shouts/${id}`)).toEqual(notFound);
    // Its id is not dealt out again.
    expect((await shout(ann, { body: 'New.' })).id).toBeGreaterThan(id);
  });

  test('are grouped into zones, the busiest first', async () => {
    for (const name of ['a', 'b', 'b']) await shout(ann, { body: 'x', zone: `${zone()}-${name}` });
    const { body } = await ask('GET', '/api/shouts/zones?limit=1000');
    const own = body.data.filter((it: { zone: string }) => it.zone.startsWith(`${zone()}-`));
    expect(own).toEqual([
      { zone: `${zone()}-b`, count24h: 2 },
      { zone: `${zone()}-a`, count24h: 1 },
    ]);
    expect((await ask('GET', '/api/shouts/zones?limit=1')).body.data).toHaveLength(1);
  });

  test('are streamed to anyone, all or by zone, and resume', async () => {
    const first = await shout(ann, { body: 'seen', zone: zone() });
    const [all, zoned] = [
      await follow('/api/shouts/stream'),
      await follow(`/api/shouts/stream?zone=${zone()}`),
    ];
    const elsewhere = await shout(ann, { body: 'elsewhere', zone: `${zone()}-b` });
    const here = await shout(ann, { body: 'here', zone: zone() });
    expect((await all.until(2)).map(({ event, id }) => [event, id])).toEqual([
      ['shout.created', String(elsewhere.id)],
      ['shout.created', String(here.id)],
    ]);
    expect((await zoned.until(1))[0]?.data).toEqual(here);
    const resumed = await follow('/api/shouts/stream', { after: first.id });
    expect((await resumed.until(2)).map(({ data }) => data.id)).toEqual([elsewhere.id, here.id]);
    for (const stream of [all, zoned, resumed]) stream.disconnect();
  });
});

describe('any whisper', () => {
  test.each([
    '\u001b[31mred\u001b[0m',
    ' two \r\n lines\t',
    '\u202eabc',
    'NUL \u0000 inside',
    '😀',
    'x'.repeat(5000),
  ])('are stored unchanged: %j', async (body) => {
    const { id } = await whisper(someone, anyone, body);
    expect((await ask('GET', `/api/whispers/${id}`, { as: anyone.login })).body.data.body).toBe(body);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=x', 'limit'],
    ['before_id=0', 'before_id'],
    [`with=${'x'.repeat(65)}`, 'with'],
    ['with=a%20b', 'with'],
  ])('are not listed with %s', async (query, field) => {
    expect(await ask('GET', `/api/whispers?${query}`, { as: anyone.login })).toEqual(invalid(field));
  });

  test.each<[object, string]>([
    [{ recipientHandle: 'owner' }, 'body'],
    [{ body: '', recipientHandle: 'owner' }, 'body'],
    [{ body: ' \n\t', recipientHandle: 'owner' }, 'body'],
    [{ body: 'x'.repeat(5001), recipientHandle: 'owner' }, 'body'],
    [{ body: 'half \ud83d', recipientHandle: 'owner' }, 'body'],
    [{ body: 7, recipientHandle: 'owner' }, 'body'],
    [{ body: 'a' }, 'recipientId'],
    [{ body: 'a', recipientHandle: 'owner', recipientId: 1 }, 'recipientId'],
    [{ body: 'a', recipientId: '1' }, 'recipientId'],
    [{ body: 'a', recipientHandle: 'owner', subject: 'b' }, 'subject'],
  ])('are rejected as %j', async (json, field) => {
    expect(await ask('POST', '/api/whispers', { as: anyone.login, json })).toEqual(invalid(field));
  });

  test('are not sent to oneself', async () => {
    const json = { body: 'Me.', recipientHandle: anyone.handle.toUpperCase() };
    const { status, body } = await ask('POST', '/api/whispers', { as: anyone.login, json });
    expect([status, body.errors]).toEqual([422, { recipientHandle: ['Cannot whisper yourself.'] }]);
  });

  test('with an unknown user are not found', async () => {
    for (const name of ['nobody-at-all', '999999', '0']) {
      expect(await ask('GET', `/api/whispers?with=${name}`, { as: anyone.login })).toEqual(notFound);
    }
    const json = { body: 'Hello?', recipientHandle: 'nobody-at-all' };
    expect(await ask('POST', '/api/whispers', { as: anyone.login, json })).toEqual(notFound);
    const byId = { body: 'Hello?', recipientId: 999_999 };
    expect(await ask('POST', '/api/whispers', { as: anyone.login, json: byId })).toEqual(notFound);
  });

  test('cannot be streamed from an invalid id', async () => {
    const headers = { 'last-event-id': 'x' };
    expect(await ask('GET', '/api/whispers/stream', { as: anyone.login, headers })).toEqual(
      invalid('last-event-id'),
    );
  });
});

describe('any shout', () => {
  test.each<[object, string]>([
    [{}, 'body'],
    [{ body: '  ' }, 'body'],
    [{ body: 'x'.repeat(2001) }, 'body'],
    [{ body: 'a', zone: 'a b' }, 'zone'],
    [{ body: 'a', zone: 'x'.repeat(65) }, 'zone'],
    [{ body: 'a', visibility: 'private' }, 'visibility'],
  ])('are not created from %j', async (json, field) => {
    expect(await ask('POST', '/api/shouts', { as: anyone.login, json })).toEqual(invalid(field));
  });
});
