import { expect, test } from 'vitest';
import type { EventView } from '../../src/shared/contract/events.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { LiveCalls } from '../../src/view/live-calls.ts';
import { linearGrowth, stepGrowth } from '../support/count-steps.ts';

const growthOf = stepGrowth('live-calls');
const at = Date.parse('2026-11-21T09:00:00Z');

function event(
  type: string,
  id: string,
  { ms = 0, ...data }: Record<string, unknown> & { ms?: number } = {},
) {
  const created_at = new Date(at + ms).toISOString();
  return { type, sequence: null, created_at, data: { request_id: id, ...data } };
}

function trace(request_id: string, { ms = 0 } = {}) {
  const completed_at = new Date(at + ms).toISOString();
  const shown = { status: 'completed', tokens: {}, timings: {}, cost: null, rejection: null };
  return { ...shown, request_id, created_at: completed_at, completed_at } as unknown as TraceView;
}

test('a request is one row from start to end', () => {
  const store = new LiveCalls({ max: 1000 });
  store.apply(event('request.started', 'req_1', { model: 'gpt', endpoint: '/v1/responses' }));
  store.apply(event('request.routed', 'req_1', { provider: 'openai' }));
  expect(store.rows()).toMatchObject([{ id: 'req_1', status: 'running', model: 'gpt', provider: 'openai' }]);
  expect(store.running()).toBe(1);
  const soFar = { input_tokens: 7, output_tokens: 120, cost_usd: '0.002', ttft_ms: 310 };
  store.apply(event('request.progress', 'req_1', soFar));
  const shown = { inputTokens: 7, outputTokens: 120, costUsd: '0.002', ttftMs: 310 };
  expect(store.rows()).toMatchObject([{ ...shown, status: 'running', provider: 'openai', totalMs: null }]);
  store.apply(event('request.completed', 'req_1', { ms: 900, status: 'completed', total_ms: 900 }));
  expect(store.rows()).toMatchObject([{ status: 'completed', at, totalMs: 900 }]);
  expect(store.running()).toBe(0);
});

test('duplicate events count once, and late events change nothing', () => {
  const store = new LiveCalls({ max: 1000 });
  const end = event('request.failed', 'req_1', { status: 'failed', error_code: 'upstream_failed' });
  for (const one of [end, end, event('request.routed', 'req_1', { provider: 'late' })]) store.apply(one);
  expect(store.rows()).toMatchObject([{ status: 'failed', errorCode: 'upstream_failed', provider: null }]);
  expect(store.histogram(at, 12)).toMatchObject({ finished: [...Array(11).fill(0), 1], failed: 1 });
});

test('a rejected request is a row with its reason, and stands for others like it', () => {
  const store = new LiveCalls({ max: 1000 });
  const message = 'A valid API key or login is required.';
  const rejected = {
    status: 'rejected',
    error_code: 'unauthenticated',
    message,
    address: '10.0.0.7',
    model: null,
  };
  store.apply(event('request.rejected', 'req_1', { ...rejected, more: 41 }));
  expect(store.rows()).toMatchObject([
    {
      status: 'rejected',
      errorCode: 'unauthenticated',
      reason: message,
      address: '10.0.0.7',
      more: 41,
      model: '',
    },
  ]);
  expect(store.running()).toBe(0);
  expect(store.histogram(at, 12).failed).toBe(42);
});

test('the histogram has a bucket per five seconds, newest last', () => {
  const store = new LiveCalls({ max: 1000 });
  for (const ms of [0, 1000, 11_000]) {
    store.apply(event('request.completed', `req_${ms}`, { ms, status: 'completed', total_ms: 1 }));
  }
  expect(store.histogram(at + 15_000, 4).finished).toEqual([2, 0, 1, 0]);
});

test('the histogram shows whether earlier requests are missing', () => {
  const store = new LiveCalls({ max: 1000 });
  store.backfill([trace('req_1', { ms: 0 })], { hasMore: true });
  expect(store.histogram(at, 2).isPartial).toBe(true);
  expect(store.histogram(at + 60_000, 2).isPartial).toBe(false);
  const whole = new LiveCalls({ max: 1000 });
  whole.backfill([trace('req_1', { ms: 0 })], { hasMore: false });
  expect(whole.histogram(at, 2).isPartial).toBe(false);
});

test('each of many thousand requests takes the same number of steps, and only the newest thousand are kept', async () => {
  const { growth, result } = await growthOf('completed requests', 4_000);
  expect(growth).toBeLessThan(linearGrowth);
  expect(result).toBe(1000);
});

function eventAt(type: string, seconds: number, data: Record<string, unknown>): EventView {
  return { type, sequence: null, created_at: new Date(at + seconds * 1_000).toISOString(), data };
}

function take(calls: LiveCalls, events: readonly EventView[]): void {
  for (const one of events) calls.apply(one);
}

const ended = (id: string, seconds: number, more: Record<string, unknown> = {}) =>
  eventAt('request.completed', seconds, {
    request_id: id,
    model: 'm',
    status: 'completed',
    cost_usd: '0.01',
    total_ms: 500,
    ...more,
  });

test('a call counts up while it runs, is above those that ended, and its late events change nothing', () => {
  const calls = new LiveCalls({ max: 500, since: at });
  take(calls, [
    eventAt('request.started', 1, { request_id: 'a', model: 'm' }),
    ended('b', 2),
    eventAt('request.routed', 3, { request_id: 'a', provider: 'p' }),
    eventAt('request.progress', 4, { request_id: 'a', output_tokens: 12, cost_usd: '0.001' }),
  ]);
  expect(calls.runningFirst().map(({ id, status }) => [id, status])).toEqual([
    ['a', 'running'],
    ['b', 'completed'],
  ]);
  expect(calls.get('a')).toMatchObject({ provider: 'p', outputTokens: 12, costUsd: '0.001' });
  take(calls, [ended('a', 5), eventAt('request.progress', 6, { request_id: 'a', output_tokens: 5 })]);
  expect(calls.running()).toBe(0);
  expect(calls.get('a')?.status).toBe('completed');
});

test('the rate is that of the last minute, each call counted once, and of the time since the start before', () => {
  const calls = new LiveCalls({ max: 500, since: at });
  take(calls, [ended('a', 1), ended('a', 1), ended('b', 9)]);
  expect(calls.rate(at + 10_000)).toEqual({ calls: 0.2, usdPerHour: 7.2 });
  take(calls, [ended('c', 100)]);
  expect(calls.rate(at + 120_000).calls).toBeCloseTo(1 / 60);
});

test('a digest has the place of events: its running calls are those that run, also those without a row', () => {
  const calls = new LiveCalls({ max: 500, since: at });
  take(calls, [eventAt('request.started', 1, { request_id: 'a', model: 'm' })]);
  const digest = (running: string[], count: number) =>
    eventAt('calls.digest', 2, {
      finished: 120,
      cost_usd: '1.2',
      rows: [{ request_id: 'x', model: 'm', status: 'failed', error_code: 'unavailable' }],
      running: count,
      running_rows: running.map((id) => ({ request_id: id, model: 'm', output_tokens: 3 })),
    });
  take(calls, [digest(['b'], 70)]);
  expect(calls.running()).toBe(70);
  expect(calls.runningFirst().map(({ id, status }) => [id, status])).toEqual([
    ['b', 'running'],
    ['x', 'failed'],
  ]);
  expect(calls.rate(at + 2_000).calls).toBe(60);
});

test('few calls are kept, and running ones longest', () => {
  const calls = new LiveCalls({ max: 500, since: at });
  take(calls, [eventAt('request.started', 1, { request_id: 'running', model: 'm' })]);
  for (let at = 0; at < 2_000; at += 1) take(calls, [ended(`r${at}`, at)]);
  expect(calls.runningFirst().length).toBeLessThanOrEqual(500);
  expect(calls.runningFirst()[0]?.id).toBe('running');
});
