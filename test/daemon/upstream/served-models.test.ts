import { expect, test } from 'vitest';
import type { Adapter } from '../../../src/daemon/upstream/adapter.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { decode, upstreamCall } from '../../support/upstream-call.ts';

const served = 'served-2026-11-30';
const at = { name: 'p', baseUrl: 'https://p.example/v1' };
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const part = { content: { role: 'model', parts: [{ text: 'Hi' }] }, index: 0, finishReason: 'STOP' };

test.each<[string, Adapter, Record<string, unknown>[]]>([
  [
    'chat completions',
    chatAdapter(at),
    [{ id: 'c', model: served, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }],
  ],
  [
    'Responses',
    responsesAdapter(at),
    [
      {
        type: 'response.completed',
        response: { id: 'r', object: 'response', status: 'completed', model: served, output: [], usage },
      },
    ],
  ],
  [
    'Messages',
    anthropicAdapter(at),
    [
      { type: 'message_start', message: { model: served, content: [], usage } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
  ],
  [
    'Gemini',
    googleAdapter(at, { makeCallId: () => 'call_1' }),
    [{ modelVersion: served, candidates: [part] }],
  ],
])('the end of a stream of %s says which model has answered', (_name, adapter, data) => {
  const text = data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('');
  const events = decode(adapter.decoder(upstreamCall('asked')), Buffer.from(text));
  expect(events.at(-1)).toMatchObject({ type: 'finished', servedModel: served });
});
