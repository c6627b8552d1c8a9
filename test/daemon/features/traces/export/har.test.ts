import { expect, test } from 'vitest';
import type { ExportedCall } from '../../../../../src/daemon/features/traces/export/exported-call.ts';
import { harWriter } from '../../../../../src/daemon/features/traces/export/har.ts';
import { aUsage } from '../../../../storage/records.ts';

const completedAt = Date.parse('2026-11-21T08:00:01.000Z');

function entryWith(timings: { total_ms: number; first_token_ms: number | null }) {
  const view = { request_id: 'req_1', endpoint: '/v1/responses', http_status: 200, timings, attempts: [] };
  const call = { record: aUsage('req_1', { completedAt }), view, content: undefined };
  const writer = harWriter({ content: 'none', baseUrl: 'http://127.0.0.1:4100', version: '1.2.3' });
  const text = writer.head + writer.call(call as unknown as ExportedCall, true) + writer.tail;
  return JSON.parse(text).log.entries[0];
}

test('an entry waits for the first token, and receives from then on', () => {
  expect(entryWith({ total_ms: 500, first_token_ms: 120 })).toMatchObject({
    startedDateTime: '2026-11-21T08:00:00.500Z',
    time: 500,
    timings: { send: 0, wait: 120, receive: 380 },
  });
});

test('an entry without a token waits to the end', () => {
  expect(entryWith({ total_ms: 500, first_token_ms: null }).timings).toEqual({
    send: 0,
    wait: 500,
    receive: 0,
  });
});
