import { expect } from 'vitest';
import { type FakeGemini, startFakeGemini } from '../fake-gemini.ts';
import type { ProviderBackends, ScriptedReply } from './backend.ts';

const env = { GEMINI_API_KEY: 'AIza' };
const errorNames: Record<number, string> = { 400: 'INVALID_ARGUMENT', 429: 'RESOURCE_EXHAUSTED' };

export const googleBackends: ProviderBackends<'google', FakeGemini> = {
  env,
  backends: {
    google: {
      model: 'google/gemini-3.5-flash',
      otherModel: 'google/gemini-3.1-pro-preview',
      embeddingModel: 'google/gemini-embedding-001',
      relays: [],
      refusal: 'blocked',
      namesParameters: false,
      brokenCode: 'UNAVAILABLE',
      expectReasoning({ contents }) {
        const [, model] = contents as { parts: Record<string, unknown>[] }[];
        const call = model?.parts.find((part) => part.functionCall);
        expect(call?.thoughtSignature).toEqual(expect.stringMatching(/./));
        expect(call?.thoughtSignature).not.toBe('skip_thought_signature_validator');
      },
    },
  },
  async start() {
    const fake = await startFakeGemini({ keys: [env.GEMINI_API_KEY] });
    return {
      fake,
      config: { providers: `google: {base_url: "${fake.baseUrl}"}` },
      get requests() {
        return fake.requests;
      },
      script: (reply) => fake.answer(answerOf(reply)),
      refuse: ({ status, headers = {}, message = 'Something went wrong.' }) =>
        fake.answer({ error: { status, name: errorNames[status] ?? 'INTERNAL', message, headers } }),
      watchDisconnect() {
        const count = fake.dropped + 1;
        return () => fake.untilDropped(count);
      },
      forget: () => fake.forget(),
      close: () => fake.close(),
    };
  },
};

function answerOf(reply: ScriptedReply): Parameters<FakeGemini['answer']>[0] {
  const { reasoning, text, calls = [], refusal, finish, breaks, breaksAfter = 2 } = reply;
  if (refusal !== undefined) return { blockReason: 'PROHIBITED_CONTENT' };
  const by = { cut: 'reset', error: 'error', stall: 'stall' } as const;
  return {
    parts: [
      ...(reasoning === undefined ? [] : [{ thought: reasoning }]),
      ...(text === undefined ? [] : [{ text }]),
      ...calls.map(({ name, input }) => ({ call: name, ...(input && { args: input }) })),
    ],
    ...(finish === 'length' && { finishReason: 'MAX_TOKENS' }),
    ...(finish === 'content_filter' && { finishReason: 'SAFETY' }),
    ...(breaks && { interrupt: { afterEvents: breaksAfter, by: by[breaks] } }),
  };
}
