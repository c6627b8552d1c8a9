import { expect, test } from 'vitest';
import { ChatStream } from '../../../../../../src/daemon/features/inference/formats/chat-completions/stream.ts';
import { createOutput } from '../../../../../../src/daemon/features/inference/pipeline/output.ts';

const frame = (json: Record<string, unknown>) => ({ raw: JSON.stringify(json), json });

test('the provider’s usage is passed on, except for the cost', () => {
  const output = createOutput(
    (prefix) => `${prefix}_1`,
    () => '',
  );
  const named = { id: 'chatcmpl-1', created: 1, model: 'm' };
  const stream = new ChatStream({ ...named, output, includeUsage: true, requestId: 'req_1' });
  const reported = {
    prompt_tokens: 1,
    completion_tokens: 2,
    total_tokens: 3,
    cost_usd: '9',
    audio_seconds: 4,
  };
  stream.batch({
    events: [],
    frames: [
      frame({ ...named, choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }),
      frame({ ...named, choices: [], usage: reported }),
    ],
  });
  const cost = { provider_usd: '0.001', margin_usd: '0.0001', total_usd: '0.0011' };
  const service = { model: 'm', provider: 'p', attempts: [], cost, charged_usd: '0.0011', own_key: false };
  const text = stream.finish({
    finish: 'stop',
    tokens: { input: 1, cachedInput: 0, cacheWrite: 0, output: 2, reasoning: 0 },
    service,
    completedAt: 0,
  });
  const { usage } = JSON.parse(text.split('\n')[0]?.replace(/^data: /, '') ?? '');
  expect(usage).toMatchObject({ ...reported, cost_usd: '0.0011' });
});
