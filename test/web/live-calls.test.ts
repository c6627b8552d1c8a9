import { expect, test } from 'vitest';
import type { EventView } from '../../src/shared/contract/events.ts';
import { LiveCalls } from '../../src/web/screens/live/live-calls.ts';

/** The rows of the screen Live, without a browser. */

const start = Date.parse('2026-11-21T09:00:00Z');
let sequence = 0;

function event(type: string, seconds: number, data: Record<string, unknown>): EventView {
  sequence += 1;
  return { type, sequence, created_at: new Date(start + seconds * 1_000).toISOString(), data };
}

const ended = (id: string, seconds: number, more: Record<string, unknown> = {}) =>
  event('request.completed', seconds, {
    request_id: id,
    model: 'm',
    status: 'completed',
    cost_usd: '0.01',
    total_ms: 500,
    ...more,
  });

test('a call counts up while it runs, is above those that ended, and its late events change nothing', () => {
  const calls = new LiveCalls(start);
  calls.take([
    event('request.started', 1, { request_id: 'a', model: 'm' }),
    ended('b', 2),
    event('request.routed', 3, { request_id: 'a', provider: 'p' }),
    event('request.progress', 4, { request_id: 'a', output_tokens: 12, cost_usd: '0.001' }),
  ]);
  expect(calls.rows().map(({ id, status }) => [id, status])).toEqual([
    ['a', 'running'],
    ['b', 'completed'],
  ]);
  expect(calls.get('a')).toMatchObject({ provider: 'p', outputTokens: 12, costUsd: '0.001' });
  calls.take([ended('a', 5), event('request.progress', 6, { request_id: 'a', output_tokens: 5 })]);
  expect(calls.running()).toBe(0);
  expect(calls.get('a')?.status).toBe('completed');
});

test('the rate is that of the last minute, each call counted once, and of the time since the start before', () => {
  const calls = new LiveCalls(start);
  calls.take([ended('a', 1), ended('a', 1), ended('b', 9)]);
  expect(calls.rate(start + 10_000)).toEqual({ calls: 0.2, usdPerHour: 7.2 });
  calls.take([ended('c', 100)]);
  expect(calls.rate(start + 120_000).calls).toBeCloseTo(1 / 60);
});

test('a digest has the place of events: its running calls are those that run, also those without a row', () => {
  const calls = new LiveCalls(start);
  calls.take([event('request.started', 1, { request_id: 'a', model: 'm' })]);
  const digest = (running: string[], count: number) =>
    event('calls.digest', 2, {
      finished: 120,
      cost_usd: '1.2',
      rows: [{ request_id: 'x', model: 'm', status: 'failed', error_code: 'unavailable' }],
      running: count,
      running_rows: running.map((id) => ({ request_id: id, model: 'm', output_tokens: 3 })),
    });
  calls.take([digest(['b'], 70)]);
  expect(calls.running()).toBe(70);
  expect(calls.rows().map(({ id, status }) => [id, status])).toEqual([
    ['b', 'running'],
    ['x', 'failed'],
  ]);
  expect(calls.rate(start + 2_000).calls).toBe(60);
});

test('few calls are kept, and running ones longest', () => {
  const calls = new LiveCalls(start);
  calls.take([event('request.started', 1, { request_id: 'running', model: 'm' })]);
  for (let at = 0; at < 2_000; at += 1) calls.take([ended(`r${at}`, at)]);
  expect(calls.rows().length).toBeLessThanOrEqual(500);
  expect(calls.rows()[0]?.id).toBe('running');
});
