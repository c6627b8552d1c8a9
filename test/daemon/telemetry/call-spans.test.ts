import { expect, test } from 'vitest';
import { finishedCallSpans } from '../../../src/daemon/telemetry/call-spans.ts';
import { aUsage } from '../../storage/records.ts';

const attempt = { provider: 'sim', model: 'sim/echo', status: 200, ms: 0 };

test.each([
  ['answered within a millisecond', null],
  ['failed within a millisecond', 'provider_error'],
])('an attempt that %s does not end before it begins, nor after its request', (_case, errorCode) => {
  const trace = { admittedMs: 0.2, heldMs: null, startedMs: [0.3], finishReason: 'stop', routes: [] };
  const usage = aUsage('req_1', { totalMs: 0, attempts: [{ ...attempt, errorCode, ms: 0.4 }], trace });
  const { request, attempts } = finishedCallSpans(usage, 0);
  expect(attempts).toHaveLength(1);
  for (const { startedAt, endedAt } of attempts) {
    expect(startedAt).toBeGreaterThanOrEqual(request.startedAt);
    expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    expect(endedAt).toBeLessThanOrEqual(request.endedAt);
  }
});
