import { expect } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from '../fake-anthropic.ts';
import type { ProviderBackends, ScriptedReply } from './backend.ts';

const env = { ANTHROPIC_API_KEY: 'sk-ant' };
const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

export const anthropicBackends: ProviderBackends<'anthropic', FakeAnthropic> = {
  env,
  backends: {
    anthropic: {
      model: 'anthropic/claude-sonnet-4-5',
      otherModel: 'anthropic/claude-opus-4-5',
      relays: ['messages'],
      refusal: 'ending',
      namesParameters: false,
      brokenCode: 'overloaded_error',
      expectReasoning({ messages }, reasoning) {
        const [, assistant] = messages as { content: unknown[] }[];
        expect(assistant?.content).toEqual([
          { type: 'thinking', thinking: reasoning, signature: expect.stringMatching(/./) },
          { type: 'tool_use', id: expect.any(String), name: 'weather', input: { city: 'Oslo' } },
        ]);
      },
    },
  },
  async start() {
    const fake = await startFakeAnthropic({ keys: [env.ANTHROPIC_API_KEY] });
    return {
      fake,
      config: { providers: `anthropic: {base_url: "${fake.baseUrl}"}` },
      get requests() {
        return fake.requests;
      },
      script: (reply) => fake.answer(answerOf(reply)),
      refuse: ({ status, headers = {}, message = 'Something went wrong.' }) =>
        fake.answer({ error: { status, type: errorTypes[status] ?? 'api_error', message, headers } }),
      watchDisconnect() {
        const count = fake.dropped + 1;
        return () => fake.untilDropped(count);
      },
      forget: () => fake.forget(),
      close: () => fake.close(),
    };
  },
};

function answerOf(reply: ScriptedReply): Parameters<FakeAnthropic['answer']>[0] {
  const { reasoning, text, calls = [], refusal, finish, breaks, breaksAfter = 5 } = reply;
  const by = { cut: 'reset', error: 'overloaded_error', stall: 'stall' } as const;
  return {
    blocks: [
      ...(reasoning === undefined ? [] : [{ thinking: reasoning }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, input }) => ({ tool: name, ...(input && { input }) })),
    ],
    ...(finish === 'length' && { stopReason: 'max_tokens' }),
    ...(finish === 'content_filter' && { stopReason: 'refusal' }),
    ...(refusal !== undefined && { stopReason: 'refusal', explanation: refusal }),
    ...(breaks && { interrupt: { afterEvents: breaksAfter, by: by[breaks] } }),
  };
}
