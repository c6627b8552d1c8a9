import { expect, test } from 'vitest';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { callOf, chunkOf, sse, summary } from './upstream-fixture.ts';

const settings = { name: 'p', baseUrl: 'https://p.example/v1' };
const count = 80_000;
/** Five times what linear time needs; quadratic time exceeds it. */
const msMax = 4_000;

test('takes linear time to read very many items that no event started', () => {
  const output = Array.from({ length: count }, (_, at) => ({
    type: 'reasoning',
    id: `rs_${at}`,
    summary: [],
  }));
  const bytes = sse({ type: 'response.completed', response: { status: 'completed', output } });
  const decoder = responsesAdapter(settings).decoder(callOf({ wire: 'chat' }));
  const startedAt = performance.now();
  const { events } = decoder.push(bytes);
  expect(performance.now() - startedAt).toBeLessThan(msMax);
  expect(summary(events).done).toHaveLength(count);
});

test('takes linear time to read very many calls with ids and no index', () => {
  const calls = Array.from({ length: count }, (_, at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }));
  const bytes = sse(chunkOf({ tool_calls: calls }), chunkOf({}, { finish: 'tool_calls' }), '[DONE]');
  const decoder = chatAdapter(settings).decoder(callOf({ wire: 'responses' }));
  const startedAt = performance.now();
  const { events } = decoder.push(bytes);
  expect(performance.now() - startedAt).toBeLessThan(msMax);
  expect(summary(events).calls).toHaveLength(count);
});
