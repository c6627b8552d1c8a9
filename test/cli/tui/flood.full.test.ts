import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { callsMax } from '../../../src/cli/tui/services/services.ts';
import { syncWithDaemon } from '../../../src/cli/tui/sync.ts';
import type { SseEvent } from '../../../src/shared/http/sse.ts';
import { heapBytes } from '../../support/collect-garbage.ts';
import { openTui } from '../../support/open-tui.ts';

/** An hour of six requests per second, three events each. */
const requests = 6 * 3600;
const types = ['request.started', 'request.routed', 'request.completed'];
const firstAt = Date.parse('2026-11-21T09:00:00Z');
/** Events per chunk, and the milliseconds that each takes: an hour of traffic in three seconds. */
const batch = 100;
const batchMs = 5;
/** More growth than this would be a leak. */
const growthBytesMax = 8 * 1024 * 1024;

function eventOf(number: number): SseEvent {
  const request = Math.floor(number / types.length);
  const type = types[number % types.length];
  const isEnd = type === 'request.completed';
  const data = {
    type,
    sequence: number,
    created_at: new Date(firstAt + (request * 1000) / 6).toISOString(),
    data: {
      request_id: `req_${request}`,
      model: `sim/model-${request}`,
      provider: 'simulator',
      endpoint: '/v1/responses',
      ...(isEnd && { status: 'completed', input_tokens: 10, output_tokens: 20, total_ms: 30 }),
    },
  };
  return { event: 'message', data: JSON.stringify(data), id: String(number) };
}

test('an hour of traffic in seconds: keys respond, redraws are few, and memory is stable', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const seen = { events: 0, heap: 0 };
  const ends = Promise.withResolvers<void>();
  async function* flood() {
    for (let number = 0; number < requests * types.length; number += 1) {
      yield eventOf(number);
      seen.events += 1;
      if (number % batch === 0) {
        vi.advanceTimersByTime(batchMs);
        await nextTurn();
      }
      if (number === requests) seen.heap = heapBytes();
    }
    ends.resolve();
    await new Promise(() => {});
  }
  const tui = openTui({ rows: 40, columns: 120, streams: { 'GET /v1/events': flood } });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep: () => new Promise(() => {}) });

  await expect.poll(() => seen.events).toBeGreaterThan(1000);
  tui.type('?');
  await tui.shows('Keys of Calls');
  expect(seen.events).toBeLessThan(requests * types.length);

  await ends.promise;
  const seconds = ((requests * types.length) / batch) * (batchMs / 1000);
  expect(tui.state.version()).toBeLessThan(20 + seconds * 20);
  expect(tui.calls.rows()).toHaveLength(callsMax);
  expect(tui.calls.rows()[0]).toMatchObject({ id: `req_${requests - 1}`, status: 'completed' });
  expect(tui.calls.running()).toBe(0);
  await expect.poll(() => heapBytes() - seen.heap, { interval: 100 }).toBeLessThan(growthBytesMax);
});
