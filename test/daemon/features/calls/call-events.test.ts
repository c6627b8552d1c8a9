import { expect, test } from 'vitest';
import { callEvents } from '../../../../src/daemon/features/calls/call-events.ts';
import type { ModelCall } from '../../../../src/daemon/features/calls/call-observer.ts';
import type { LiveEvent } from '../../../../src/daemon/features/events/index.ts';

const tokens = { input: 12, cachedInput: 0, cacheWrite: 0, output: 345, reasoning: 0 };
const call = {
  caller: { kind: 'key', keyId: 'key_1', workspaceId: 'ws_1' },
  requestId: 'req_1',
  endpoint: '/v1/responses',
} as unknown as ModelCall;

test.each([
  [2_500_000, '0.0025'],
  [null, null],
])('the progress of a call with a cost of %j is published with tokens and times', (cost, cost_usd) => {
  const published: LiveEvent[] = [];
  const observer = callEvents({ publish: (event) => published.push(event), announce: () => {} });
  observer.onProgress?.(call, {
    requestId: 'req_1',
    provider: 'acme',
    model: 'acme/large',
    tokens,
    cost,
    ttftMs: 310,
  });
  expect(published).toEqual([
    {
      type: 'request.progress',
      workspaceId: 'ws_1',
      data: {
        request_id: 'req_1',
        endpoint: '/v1/responses',
        key: 'key_1',
        model: 'acme/large',
        provider: 'acme',
        input_tokens: 12,
        output_tokens: 345,
        cost_usd,
        ttft_ms: 310,
      },
    },
  ]);
});
