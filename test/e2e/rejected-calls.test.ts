import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventView } from '../../src/shared/contract/events.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { SseReader } from '../../src/shared/http/sse.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { eventually } from '../support/eventually.ts';
import { readExposition } from '../support/prometheus-text.ts';
import { openSocket } from '../support/socket-client.ts';

let place: DaemonWithStranger;
const secret = 'said in confidence';
const hello = { model: 'sim/echo', input: secret };
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

beforeAll(async () => {
  place = await startWithStranger();
});

afterAll(async () => {
  await place.daemon.stop();
});

interface Sent {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends a request, a valid call unless told otherwise, and resolves to its request id. */
async function send({ path = '/v1/responses', method = 'POST', headers, body }: Sent): Promise<string> {
  const answer = await fetch(place.daemon.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...bearer(place.daemon.key), ...headers },
    ...(method === 'POST' && { body: body ?? JSON.stringify(hello) }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') as string;
}

async function traceOf(requestId: string, key = place.daemon.login): Promise<TraceView | undefined> {
  const answer = await place.daemon.fetch(`/v1/traces/${requestId}`, { headers: bearer(key) });
  return answer.ok ? ((await answer.json()) as TraceView) : undefined;
}

const recorded = (requestId: string) =>
  eventually('the rejected call is recorded', async () => await traceOf(requestId));

/** The stored events of rejected calls that a key may read, up to one of its own. */
async function rejectedEvents(key: string): Promise<EventView[]> {
  const leave = new AbortController();
  const path = '/v1/events?after=0&type=request.rejected';
  const answer = await place.daemon.fetch(path, { headers: bearer(key), signal: leave.signal });
  const reader = new SseReader();
  const events: EventView[] = [];
  const last = await send({ headers: bearer(key), body: '{' });
  for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
    events.push(...reader.push(bytes).map(({ data }) => JSON.parse(data) as EventView));
    if (events.some(({ data }) => data.request_id === last)) break;
  }
  leave.abort();
  return events;
}

describe('a rejected call is a trace and an event with its reason', () => {
  const json = (changes: object) => JSON.stringify({ ...hello, ...changes });
  test.each<[string, () => Sent, Partial<TraceView>, Partial<NonNullable<TraceView['rejection']>>]>([
    [
      'an unknown model',
      () => ({ body: json({ model: 'gpt-nosuch' }) }),
      { error_code: 'model_not_found', model: 'gpt-nosuch' },
      { http_status: 404, param: 'model', message: expect.stringContaining('gpt-nosuch') },
    ],
    [
      'a provider without a key',
      () => ({ body: json({ model: 'google/gemini-2.5-flash' }) }),
      { error_code: 'no_route', model: 'google/gemini-2.5-flash' },
      { http_status: 503, message: expect.stringContaining('key') },
    ],
    [
      'broken JSON',
      () => ({ body: '{"model":' }),
      { error_code: 'invalid_json', model: null },
      { http_status: 400 },
    ],
    [
      'a wrong field',
      () => ({ body: json({ temperature: 'hot', stream: true }) }),
      { error_code: 'invalid_request', streamed: true },
      { http_status: 400, param: 'temperature' },
    ],
    [
      'a wrong content type',
      () => ({ headers: { 'content-type': 'text/plain' } }),
      { error_code: 'unsupported_media_type' },
      { http_status: 415 },
    ],
    [
      'an unknown previous response',
      () => ({ body: json({ previous_response_id: 'resp_nosuch' }) }),
      { error_code: 'previous_response_not_found' },
      { http_status: 404, param: 'previous_response_id' },
    ],
    [
      'an expired key',
      () => ({ headers: bearer(place.expiredKey) }),
      { error_code: 'limit_reached' },
      { http_status: 403, param: 'limits.expires_at', address: null },
    ],
  ])('%s', async (_what, sent, trace, rejection) => {
    const requestId = await send(sent());
    const { timings: _, ...found } = await recorded(requestId);
    expect(found).toMatchObject({
      request_id: requestId,
      endpoint: '/v1/responses',
      provider: null,
      key: expect.stringMatching(/^key_/),
      status: 'rejected',
      attempts: [],
      charged_usd: '0',
      ...trace,
      rejection: { address: null, more: 0, ...rejection },
    });
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  test('a limit of the key', async () => {
    const limited = await place.issue(['responses']);
    const limits = `/v1/workspaces/me/keys/${limited.id}/limits`;
    const change = await place.daemon.fetch(limits, {
      method: 'PUT',
      headers: { ...bearer(place.daemon.login), 'content-type': 'application/json' },
      body: JSON.stringify({ models: ['sim/assistant'] }),
    });
    expect(change.status).toBe(200);
    const requestId = await send({ headers: bearer(limited.secret) });
    expect(await recorded(requestId)).toMatchObject({
      key: limited.id,
      error_code: 'limit_reached',
      rejection: { http_status: 403, param: 'limits.models' },
    });
  });

  test('a message on a socket', async () => {
    const client = await openSocket(`${place.daemon.url}/v1/responses`, { key: place.daemon.key });
    const [failure] = await client.ask({ type: 'response.create', ...hello, temperature: 'hot' });
    expect(await recorded(failure.error.request_id)).toMatchObject({
      model: 'sim/echo',
      error_code: 'invalid_request',
      rejection: { param: 'temperature' },
    });
  });

  test('a body that is too large', async () => {
    const { hostname, port } = new URL(place.daemon.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${place.daemon.key}\r\n` +
        'content-type: application/json\r\ncontent-length: 99999999\r\n\r\n{',
    );
    const [head] = (await once(socket.setEncoding('latin1'), 'data')) as [string];
    socket.destroy();
    const requestId = /x-request-id: (\S+)/.exec(head)?.[1] as string;
    expect(await recorded(requestId)).toMatchObject({
      error_code: 'limit_exceeded',
      rejection: { http_status: 413 },
    });
  });

  test('a client that left while it sent its body', async () => {
    const { hostname, port } = new URL(place.daemon.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${place.daemon.key}\r\n` +
        'expect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"model"',
    );
    await once(socket, 'data');
    socket.destroy();
    const left = await eventually('the client is noticed', async () => {
      const answer = await place.daemon.fetch('/v1/traces?status=rejected&limit=1', {
        headers: bearer(place.daemon.login),
      });
      const { data } = (await answer.json()) as { data: TraceView[] };
      return data.find(({ error_code }) => error_code === 'client_left');
    });
    expect(left).toMatchObject({ model: null, rejection: { http_status: null } });
  });
});

test.each([
  ['a wrong path', 'POST', '/chat/completion?key=hidden', '/chat/completion', 'not_found'],
  ['a wrong method', 'GET', '/v1/chat/completions', '/v1/chat/completions', 'method_not_allowed'],
])('%s is shown to the workspace of the key', async (_what, method, path, endpoint, code) => {
  const requestId = await send({ path, method, headers: bearer(place.stranger.key) });
  const trace = await eventually('the trace', () => traceOf(requestId, place.stranger.login));
  expect(trace).toMatchObject({
    endpoint,
    key: expect.stringMatching(/^key_/),
    error_code: code,
    rejection: { address: null },
  });
  expect(await traceOf(requestId)).toBeUndefined();
});

describe('a caller without a valid key', () => {
  test.each<[string, () => Sent, string, string]>([
    ['with an unknown key', () => ({ headers: bearer('sk-wrong') }), '/v1/responses', 'unauthenticated'],
    [
      'at a wrong path',
      () => ({ path: '/chat/completion?key=hidden', headers: bearer('sk-wrong') }),
      '/chat/completion',
      'not_found',
    ],
  ])('%s is shown to the owner of the host alone', async (_what, sent, endpoint, code) => {
    const requestId = await send(sent());
    expect(await recorded(requestId)).toMatchObject({
      endpoint,
      key: null,
      error_code: code,
      rejection: { address: '127.0.0.1' },
    });
    expect(await traceOf(requestId, place.stranger.login)).toBeUndefined();
    expect(await traceOf(requestId, place.stranger.key)).toBeUndefined();
  });

  test('has events that others do not get', async () => {
    const requestId = await send({ headers: bearer('sk-wrong') });
    await recorded(requestId);
    const ids = async (key: string) => (await rejectedEvents(key)).map(({ data }) => data.request_id);
    expect(await ids((await place.issue(['traces:read', 'responses'])).secret)).toContain(requestId);
    expect(await ids(place.stranger.key)).not.toContain(requestId);
  });
});

test('a call that failed at its provider is not rejected as well', async () => {
  const requestId = await send({ body: JSON.stringify({ ...hello, model: 'sim/limited' }) });
  expect(await recorded(requestId)).toMatchObject({ status: 'failed', rejection: null });
  const usage = await place.daemon.fetch(`/v1/usage/${requestId}`);
  expect(usage.status).toBe(200);
});

test('other requests are no calls', async () => {
  const requestId = await send({ path: '/v1/workspaces/me/keys', body: '{"scopes": 1}' });
  const site = await send({ path: '/api/nosuch' });
  const call = await send({ body: '{' });
  await recorded(call);
  expect(await Promise.all([requestId, site].map((id) => traceOf(id)))).toEqual([undefined, undefined]);
});

test('every rejected call is counted, however many there are', async () => {
  const count = async () => {
    const families = readExposition(await (await fetch(`${place.daemon.url}/metrics`)).text());
    const lines = families.get('gateway_calls_refused_total')?.lines ?? [];
    return lines.find(({ labels }) => labels.code === 'unauthenticated')?.value ?? 0;
  };
  const before = await count();
  for (let i = 0; i < 60; i += 1) await send({ headers: bearer('sk-wrong') });
  expect((await count()) - before).toBe(60);
  const answer = await place.daemon.fetch('/v1/traces?status=rejected&limit=100', {
    headers: bearer(place.daemon.login),
  });
  const { data } = (await answer.json()) as { data: TraceView[] };
  expect(data.filter(({ error_code }) => error_code === 'unauthenticated').length).toBeLessThanOrEqual(20);
});
