import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { type MetricFamily, readExposition } from '../support/prometheus-text.ts';

let place: DaemonWithStranger;

beforeAll(async () => {
  place = await startWithStranger();
});

afterAll(async () => {
  await place.daemon.stop();
});

const scrape = (headers: Record<string, string> = {}) => fetch(`${place.daemon.url}/metrics`, { headers });

async function read(): Promise<Map<string, MetricFamily>> {
  return readExposition(await (await scrape()).text());
}

/** The sum of a family's lines with these labels. */
function sumOf(
  families: Map<string, MetricFamily>,
  name: string,
  labels: Record<string, string> = {},
): number {
  const family = families.get(name.replace(/_(sum|count|bucket)$/, '')) ?? families.get(name);
  const lines = (family?.lines ?? []).filter(
    (line) =>
      line.name === name && Object.entries(labels).every(([label, text]) => line.labels[label] === text),
  );
  return lines.reduce((sum, { value }) => sum + value, 0);
}

async function ask(path: string, json: Record<string, unknown>): Promise<number> {
  const answer = await place.daemon.fetch(path, { json });
  await answer.text();
  return answer.status;
}

const hello = { model: 'sim/echo', input: 'Hello there.' };

describe('the metrics', () => {
  test('are valid and include those of the process', async () => {
    const answer = await scrape();
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = readExposition(await answer.text());
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']) {
      expect(families.has(name), name).toBe(true);
    }
    expect(sumOf(families, 'gateway_storage_writable')).toBe(1);
    expect(sumOf(families, 'gateway_provider_available', { provider: 'simulator' })).toBe(1);
    // Twice, as a scraper does: nothing is registered a second time.
    await read();
    for (const [name, { type }] of families) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
    }
  });

  test('count CPU time since the start of the process', async () => {
    // biome-ignore lint/plugin: between two readings, whatever they are
    const { user } = process.cpuUsage();
    const reported = sumOf(await read(), 'process_cpu_user_seconds_total');
    expect(reported).toBeGreaterThan(user / 1e6 - 0.1);
    // biome-ignore lint/plugin: as above
    expect(reported).toBeLessThanOrEqual(process.cpuUsage().user / 1e6);
  });

  test('count calls, tokens and durations', async () => {
    const before = await read();
    const ofEcho = { endpoint: '/v1/responses', model: 'sim/echo', provider: 'simulator' };
    expect(await ask('/v1/responses', hello)).toBe(200);
    expect(await ask('/v1/responses', { ...hello, stream: true })).toBe(200);
    const after = await read();
    const grown = (name: string, labels: Record<string, string>) =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    expect(grown('gateway_calls_total', { ...ofEcho, status: 'completed' })).toBe(2);
    expect(grown('gateway_tokens_total', { ...ofEcho, kind: 'output' })).toBeGreaterThan(0);
    expect(grown('gateway_call_duration_seconds_count', ofEcho)).toBe(2);
    expect(grown('gateway_call_first_token_seconds_count', ofEcho)).toBe(2);
    expect(grown('gateway_settlement_duration_seconds_count', {})).toBe(2);
    expect(grown('gateway_attempts_total', { provider: 'simulator', outcome: 'ok' })).toBe(2);
    expect(grown('gateway_http_requests_total', { endpoint: 'createResponse', status: '200' })).toBe(2);
    expect(grown('gateway_http_request_duration_seconds_count', { endpoint: 'createResponse' })).toBe(2);
  });

  test('count failures by outcome', async () => {
    const before = await read();
    expect(await ask('/v1/responses', { ...hello, model: 'sim/limited' })).toBe(429);
    expect(await ask('/v1/responses', { ...hello, model: 'no/such-model' })).toBe(404);
    const after = await read();
    const grown = (name: string, labels: Record<string, string>) =>
      sumOf(after, name, labels) - sumOf(before, name, labels);
    expect(grown('gateway_calls_total', { model: 'sim/limited', status: 'failed' })).toBe(1);
    expect(grown('gateway_attempts_total', { outcome: 'rate_limited' })).toBeGreaterThan(0);
    expect(grown('gateway_calls_refused_total', { endpoint: '/v1/responses', code: 'model_not_found' })).toBe(
      1,
    );
    expect(grown('gateway_http_requests_total', { endpoint: 'createResponse', status: '404' })).toBe(1);
  });

  test('show the running calls', async () => {
    const leave = new AbortController();
    const { daemon } = place;
    const stream = await daemon.fetch('/v1/responses', {
      json: { model: 'sim/slow', input: 'Write 2000 words.', stream: true },
      signal: leave.signal,
    });
    const following = await fetch(`${daemon.url}/v1/events`, {
      headers: { authorization: `Bearer ${daemon.login}` },
      signal: leave.signal,
    });
    const families = await read();
    expect(sumOf(families, 'gateway_calls_running')).toBe(1);
    expect(sumOf(families, 'gateway_event_followers')).toBe(1);
    expect(sumOf(families, 'gateway_streams_open')).toBe(2);
    expect(sumOf(families, 'gateway_http_requests_running')).toBeGreaterThanOrEqual(3);
    leave.abort();
    await Promise.allSettled([stream.text(), following.text()]);
  });
});

describe('who may read them from elsewhere', () => {
  const through = (key?: string) =>
    scrape({ 'x-forwarded-for': '203.0.113.9', ...(key && { authorization: `Bearer ${key}` }) });
  const status = async (key?: string) => (await through(key)).status;

  test('keys with the scope, and the login of the daemon’s owner', async () => {
    expect(await status()).toBe(401);
    expect(await status((await place.issue(['responses'])).secret)).toBe(403);
    expect(await status((await place.issue(['traces:read'])).secret)).toBe(200);
    expect(await status(place.daemon.login)).toBe(200);
  });

  test('no one of another workspace, as metrics cover all workspaces', async () => {
    expect(await status(place.stranger.key)).toBe(403);
    expect(await status(place.stranger.login)).toBe(403);
  });
});
