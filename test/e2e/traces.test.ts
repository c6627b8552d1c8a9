import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';

let place: DaemonWithStranger;
/** A key that may call models, and one that may read traces. */
let calling: { id: string; secret: string };
let reading: { id: string; secret: string };

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

beforeAll(async () => {
  place = await startWithStranger({ config: 'aliases: {}\n' });
  calling = await place.issue(['responses']);
  reading = await place.issue(['traces:read']);
});

afterAll(async () => {
  await place.daemon.stop();
});

async function ask(body: Record<string, unknown>, secret = calling.secret): Promise<string> {
  const answer = await place.daemon.fetch('/v1/responses', { json: body, headers: bearer(secret) });
  await answer.text();
  return answer.headers.get('x-request-id') as string;
}

test('a call keeps who made it, for what, and at which prices', async () => {
  const { daemon } = place;
  const headers = {
    ...bearer(calling.secret),
    'user-agent': 'agent/1.2 (linux)',
    'x-service-tags': 'team=search,job=7',
  };
  const bodies = {
    '/v1/responses': { input: 'Hello.', safety_identifier: 'ann' },
    '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hello.' }], service: { user: 'ann' } },
    '/v1/messages': {
      messages: [{ role: 'user', content: 'Hello.' }],
      max_tokens: 100,
      metadata: { user_id: 'ann_session_1' },
    },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await daemon.fetch(path, { json: { model: 'sim/echo', ...body }, headers });
    await answer.text();
    const trace = await get<TraceView>(`/v1/traces/${answer.headers.get('x-request-id')}`);
    expect(trace.body, path).toMatchObject({
      client: 'agent/1.2',
      user: 'ann',
      conversation: path === '/v1/messages' ? '1' : null,
      tags: { team: 'search', job: '7' },
      replay_of: null,
      http_status: 200,
      cache: null,
    });
    expect(trace.body.prices, path).toMatchObject({ input: expect.any(String), output: expect.any(String) });
  }
});

test('responses that continue each other are a conversation, named after the first', async () => {
  const { daemon } = place;
  let previous: string | undefined;
  const conversations: (string | null)[] = [];
  const ids: string[] = [];
  for (const input of ['One.', 'Two.', 'Three.']) {
    const json = { model: 'sim/echo', input, ...(previous && { previous_response_id: previous }) };
    const answer = await daemon.fetch('/v1/responses', { json, headers: bearer(calling.secret) });
    previous = ((await answer.json()) as { id: string }).id;
    ids.push(previous);
    const trace = await get<TraceView>(`/v1/traces/${answer.headers.get('x-request-id')}`);
    conversations.push(trace.body.conversation);
  }
  expect(conversations).toEqual([null, ids[0], ids[0]]);
});

test('calls are found by who made them and by how they ended', async () => {
  const headers = { ...bearer(calling.secret), 'user-agent': 'finder/2.0', 'x-service-tags': 'find=me' };
  const call = async (model: string) => {
    const answer = await place.daemon.fetch('/v1/responses', { json: { model, input: 'Hello.' }, headers });
    await answer.text();
    return answer.headers.get('x-request-id');
  };
  const [fine, failed, rejected] = [await call('sim/echo'), await call('sim/limited'), await call('no/such')];
  const found = async (query: string) =>
    (await get<Page>(`/v1/traces?tag=find%3Dme&${query}`)).body.data.map((trace) => trace.request_id);
  await expect.poll(() => found('')).toEqual([rejected, failed, fine]);
  expect(await found('status=failed,rejected')).toEqual([rejected, failed]);
  expect(await found('client=finder')).toEqual([rejected, failed, fine]);
  expect(await found('client=find')).toEqual([]);
  expect(await found('error_code=model_not_found')).toEqual([rejected]);
  expect(await found('min_cost_usd=1')).toEqual([]);
  expect(await found('min_total_ms=100000')).toEqual([]);
  const page = await get<Page>('/v1/traces?tag=find%3Dme&limit=1&status=completed,failed');
  expect(page.body).toMatchObject({
    data: [{ request_id: failed }],
    has_more: true,
    scanned: expect.any(Number),
  });
  const next = await found(`limit=1&status=completed,failed&after=${page.body.next}`);
  expect(next).toEqual([fine]);
  const brief = await get<Page>('/v1/traces?tag=find%3Dme&status=completed&fields=brief');
  expect(brief.body.data).toMatchObject([{ request_id: fine, routes: null, dropped: [] }]);
});

test.each([
  [{ 'x-service-tags': 'team' }, {}],
  [{ 'x-service-tags': 'a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9' }, {}],
  [{ 'x-service-user': 'x'.repeat(129) }, {}],
  [{ 'x-service-replay-of': 'req_1' }, {}],
  [{}, { tags: { 'not a name': 'x' } }],
  [{}, { tags: { team: 'a,b' } }],
  [{}, { user: 'two\nlines' }],
])('labels %j %j are refused', async (headers, service) => {
  const answer = await place.daemon.fetch('/v1/responses', {
    json: { model: 'sim/echo', input: 'Hello.', service },
    headers: { ...bearer(calling.secret), ...headers },
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } });
});

async function get<T>(path: string, secret = reading.secret): Promise<{ status: number; body: T }> {
  const answer = await place.daemon.fetch(path, { headers: bearer(secret) });
  return { status: answer.status, body: (await answer.json()) as T };
}

interface Page {
  data: TraceView[];
  has_more: boolean;
  next: string | null;
}

describe('one trace', () => {
  test('lists the steps of a stream in order', async () => {
    const request = await ask({ model: 'sim/echo', input: 'What was said.', stream: true });
    const { status, body } = await get<TraceView>(`/v1/traces/${request}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      request_id: request,
      endpoint: '/v1/responses',
      model: 'sim/echo',
      provider: 'simulator',
      key: calling.id,
      streamed: true,
      status: 'completed',
      error_code: null,
      finish_reason: 'stop',
      routes: [{ provider: 'simulator', model: 'sim/echo' }],
      attempts: [{ provider: 'simulator', model: 'sim/echo', status: 200, error_code: null }],
      tokens_reported: true,
    });
    const { admitted_ms, held_ms, first_token_ms, total_ms, settled_ms } = body.timings;
    const [attempt] = body.attempts;
    expect(admitted_ms).not.toBeNull();
    expect(held_ms).toBeGreaterThanOrEqual(admitted_ms as number);
    expect(attempt?.started_ms).toBeGreaterThanOrEqual(admitted_ms as number);
    expect(attempt?.ended_ms).toBeGreaterThanOrEqual(attempt?.started_ms as number);
    expect(Math.round(held_ms as number)).toBeLessThanOrEqual((first_token_ms as number) + 1);
    expect(total_ms).toBeGreaterThanOrEqual(first_token_ms as number);
    expect(Math.round(settled_ms as number)).toBeGreaterThanOrEqual(total_ms);
    expect(JSON.stringify(body)).not.toContain('What was said');
  });

  test('lists every attempt of a failed call', async () => {
    const request = await ask({ model: 'sim/limited', input: 'Hello.' });
    const { body } = await get<TraceView>(`/v1/traces/${request}`);
    expect(body).toMatchObject({
      status: 'failed',
      error_code: 'rate_limited',
      provider: 'simulator',
      finish_reason: null,
      attempts: [{ status: 429, error_code: 'rate_limited' }],
    });
    expect(body.attempts.every((attempt) => (attempt.ended_ms ?? -1) >= (attempt.started_ms ?? 0))).toBe(
      true,
    );
  });

  test('reports when a call was cut by its own limit', async () => {
    const request = await ask({ model: 'sim/assistant', input: 'Write 300 words.', max_output_tokens: 16 });
    expect((await get<TraceView>(`/v1/traces/${request}`)).body).toMatchObject({
      status: 'incomplete',
      finish_reason: 'max_output_tokens',
    });
  });

  test('is not found by another workspace, nor by a key without the scope', async () => {
    const request = await ask({ model: 'sim/echo', input: 'Hello.' });
    expect((await get(`/v1/traces/${request}`, place.stranger.key)).status).toBe(404);
    expect((await get(`/v1/traces/${request}`, place.stranger.login)).status).toBe(404);
    expect((await get(`/v1/traces/${request}`, calling.secret)).status).toBe(403);
    expect((await get(`/v1/traces/${request}`, place.daemon.login)).status).toBe(200);
  });
});

describe('the list of traces', () => {
  test('lists every call page by page, newest first', async () => {
    const { daemon } = place;
    const own = await place.issue(['responses']);
    const made: string[] = [];
    for (let i = 0; i < 7; i += 1) made.push(await ask({ model: 'sim/echo', input: 'Hello.' }, own.secret));
    const found: string[] = [];
    let after = '';
    do {
      const { body } = await get<Page>(`/v1/traces?key=${own.id}&limit=3${after && `&after=${after}`}`);
      found.push(...body.data.map((trace) => trace.request_id));
      expect(body.has_more).toBe(body.next !== null);
      after = body.next ?? '';
    } while (after !== '');
    expect(found).toEqual(made.toReversed());
    expect((await get<Page>(`/v1/traces?after=req_${'0'.repeat(26)}`, daemon.login)).body.data).toEqual([]);
  });

  test('is filtered by status, model, provider and time', async () => {
    const failed = await ask({ model: 'sim/limited', input: 'Hello.' });
    const ids = async (query: string) =>
      (await get<Page>(`/v1/traces?${query}`)).body.data.map((trace) => trace.request_id);
    expect((await ids('status=failed'))[0]).toBe(failed);
    expect(await ids('status=completed')).not.toContain(failed);
    expect((await ids('model=sim/limited'))[0]).toBe(failed);
    expect((await ids('provider=simulator'))[0]).toBe(failed);
    expect((await ids('q=status:failed+provider:simulator'))[0]).toBe(failed);
    expect(await ids('provider=openai')).not.toContain(failed);
    expect(await ids('until=2020-01-01')).toEqual([]);
    expect((await ids('since=2020-01-01'))[0]).toBe(failed);
    const turned = await get<unknown>('/v1/traces?since=2020-01-03&until=2020-01-01');
    expect(turned).toMatchObject({ status: 400, body: { error: { param: 'since' } } });
  });

  test('contains nothing of another workspace', async () => {
    for (const secret of [place.stranger.key, place.stranger.login]) {
      const { status, body } = await get<Page>('/v1/traces', secret);
      expect([status, body.data]).toEqual([200, []]);
    }
  });

  test('rejects an invalid time', async () => {
    const { status, body } = await get<{ error: { param: string } }>('/v1/traces?since=2026-02-31');
    expect([status, body.error.param]).toEqual([400, 'since']);
  });
});

describe('a query', () => {
  const list = (query: string, secret = place.daemon.login) =>
    place.daemon.fetch(`/v1/traces?${query}`, { headers: bearer(secret) });

  test('filters lists and counts, by names of keys, patterns and exclusions', async () => {
    const named = await place.issue(['responses']);
    const failed = await ask({ model: 'sim/error-500', input: 'Hello.' }, named.secret);
    const done = await ask({ model: 'sim/echo', input: 'Hello.' }, named.secret);
    const idsOf = async (q: string) => {
      const answer = await list(`q=${encodeURIComponent(`key:${named.id} ${q}`)}`);
      const { data } = (await answer.json()) as { data: TraceView[] };
      return data.map(({ request_id }) => request_id);
    };
    expect(await idsOf('')).toEqual([done, failed]);
    expect(await idsOf('model:sim/e* -status:completed')).toEqual([failed]);
    expect(await idsOf('-error:* since:1h')).toEqual([done]);
    expect(await idsOf('http:4*')).toEqual([failed]);
    expect(await idsOf('http:200,502')).toEqual([done]);
    expect(await idsOf('-http:404')).toEqual([done]);
    const counts = await place.daemon.fetch(`/v1/traces/facets?key=${named.id}`, {
      headers: bearer(place.daemon.login),
    });
    expect(await counts.json()).toMatchObject({
      calls: 2,
      facets: {
        status: { values: expect.arrayContaining([{ value: 'completed', calls: 1 }]), is_partial: false },
        key: { values: [{ value: named.id, calls: 2 }] },
        endpoint: { values: [{ value: '/v1/responses', calls: 2 }] },
        tag: { values: [], none: 2 },
      },
    });
  });

  test('sorts by duration and cost', async () => {
    const { data } = (await (await list('sort=total_ms&limit=100')).json()) as { data: TraceView[] };
    const times = data.map(({ timings }) => timings.total_ms);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(times.length).toBeGreaterThan(2);
  });

  test('finds a text only for those who may read content', async () => {
    const request = await ask({ model: 'sim/echo', input: 'The order 4711 is late.' });
    const q = `q=${encodeURIComponent('"order 4711" model:sim/*')}`;
    await expect
      .poll(async () =>
        ((await (await list(q)).json()) as { data: TraceView[] }).data.map((one) => one.request_id),
      )
      .toEqual([request]);
    const refused = await list(q, reading.secret);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('content:read');
  });

  test('that is wrong is refused, with the word at fault', async () => {
    const answer = await list(`q=${encodeURIComponent('status:failed colour:red')}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { param: 'q', message: expect.stringContaining('colour:red') },
    });
  });
});
