import { expect, onTestFinished, test } from 'vitest';
import { syncWithDaemon } from '../../../src/cli/tui/sync.ts';
import type { SseEvent } from '../../../src/shared/http/sse.ts';
import { openTui, type TestCall } from '../../support/open-tui.ts';

const at = '2026-11-21T09:00:00.000Z';

function event(type: string, data: object, id: number): SseEvent {
  return { event: type, data: JSON.stringify({ type, sequence: id, created_at: at, data }), id: String(id) };
}

const call = (number: number, status = 'completed') => ({
  request_id: `req_${number}`,
  model: 'sim/assistant',
  endpoint: '/v1/responses',
  status,
  total_ms: 30,
});

test('many calls are followed by digests, which show the newest and count all, until there are few again', async () => {
  let now = Date.parse(at);
  const opened: { query: unknown; after: string | undefined }[] = [];
  const digest = (finished: number, id: number) =>
    event(
      'calls.digest',
      {
        finished,
        statuses: { completed: finished - 2, failed: 2 },
        rows: [call(1000 + id), call(2000 + id, 'failed')],
        running: 7,
        running_rows: [{ request_id: 'req_running', model: 'sim/assistant', endpoint: '/v1/responses' }],
      },
      id,
    );
  const wait = Promise.withResolvers<void>();
  async function* streamed(lastId: string | undefined, { query }: TestCall) {
    opened.push({ query, after: lastId });
    if (opened.length === 1)
      for (let number = 1; number <= 51; number += 1) yield event('request.completed', call(number), number);
    else if (opened.length === 2) {
      yield digest(500, 60);
      await wait.promise;
      for (const id of [61, 62]) {
        now += 11_000;
        yield digest(3, id);
      }
    }
    await new Promise(() => {});
  }
  const tui = openTui({ columns: 120, now: () => now, streams: { 'GET /v1/events': streamed } });
  const quitting = new AbortController();
  onTestFinished(() => quitting.abort());
  void syncWithDaemon({ state: tui.state, signal: quitting.signal, sleep: () => new Promise(() => {}) });
  await tui.shows('551 in 4 min · 2 failed · 7 running');
  expect(tui.frame()).toContain('● live');
  expect(tui.calls.get('req_1060')).toMatchObject({ status: 'completed' });
  expect(tui.calls.get('req_running')).toMatchObject({ status: 'running' });
  wait.resolve();
  await expect.poll(() => opened.length).toBe(3);
  expect(opened).toEqual([
    { query: {}, after: undefined },
    { query: { digest: 1000, rows: 50 }, after: '51' },
    { query: {}, after: '62' },
  ]);
});
