import { expect, test } from 'vitest';
import type { Batch } from '../../../src/daemon/features/upstreams/neutral.ts';
import type { Decoder } from '../../../src/daemon/upstream/adapter.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { callOf, chunkOf, sse, summary } from './upstream-fixture.ts';

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };
const count = 80_000;
/** Five times what linear time needs; quadratic time exceeds it. */
const cpuMsMax = 4_000;

async function decoded(decoder: Decoder, bytes: Uint8Array) {
  let events: Batch['events'] = [];
  const cpuMs = await cpuMsOf(() => {
    ({ events } = decoder.push(bytes));
  });
  return { events, cpuMs };
}

test('takes linear time to read very many items that no event started', async () => {
  const output = Array.from({ length: count }, (_, at) => ({
    type: 'reasoning',
    id: `rs_${at}`,
    summary: [],
  }));
  const bytes = sse({ type: 'response.completed', response: { status: 'completed', output } });
  const decoder = responsesAdapter(settings).decoder(callOf({ wire: 'chat' }));
  const { events, cpuMs } = await decoded(decoder, bytes);
  expect(cpuMs).toBeLessThan(cpuMsMax);
  expect(summary(events).done).toHaveLength(count);
});

test('takes linear time to read very many calls with ids and no index', async () => {
  const calls = Array.from({ length: count }, (_, at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }));
  const bytes = sse(chunkOf({ tool_calls: calls }), chunkOf({}, { finish: 'tool_calls' }), '[DONE]');
  const decoder = chatAdapter(settings).decoder(callOf({ wire: 'responses' }));
  const { events, cpuMs } = await decoded(decoder, bytes);
  expect(cpuMs).toBeLessThan(cpuMsMax);
  expect(summary(events).calls).toHaveLength(count);
});
