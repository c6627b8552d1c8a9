import { expect } from 'vitest';
import { type FakeAnswer, type FakeOpenAi, startFakeOpenAi } from '../fake-openai.ts';
import type { Backend, ProviderBackends, ScriptedReply } from './backend.ts';

type Json = Record<string, unknown>;

const env = { OPENAI_API_KEY: 'sk-openai' };

const openai: Backend = {
  model: 'openai/gpt-5-mini',
  otherModel: 'openai/gpt-5.4',
  embeddingModel: 'openai/text-embedding-3-small',
  relays: ['responses', 'chat'],
  refusal: 'message',
  namesParameters: true,
  brokenCode: 'server_error',
  expectReasoning({ input }) {
    const [, reasoning, call] = input as Json[];
    expect(reasoning).toMatchObject({
      type: 'reasoning',
      encrypted_content: expect.stringMatching(/^sealed-by-fake:/),
    });
    expect(call?.type).toBe('function_call');
  },
};

/** OpenAI, and two compatible servers that speak one of its formats each, which forces a translation from the other. */
export const openaiBackends: ProviderBackends<'openai' | 'chat-only' | 'responses-only', FakeOpenAi> = {
  env,
  backends: {
    openai,
    'chat-only': {
      ...openai,
      model: 'chat-only/fake',
      otherModel: 'chat-only/another',
      embeddingModel: 'chat-only/fake-embed',
      relays: ['chat'],
      expectReasoning({ messages }, reasoning) {
        const [, assistant] = messages as Json[];
        expect(assistant).toMatchObject({ reasoning_content: reasoning, tool_calls: [{}] });
      },
    },
    'responses-only': {
      ...openai,
      model: 'responses-only/gpt-5-fake',
      otherModel: 'responses-only/another',
      embeddingModel: 'responses-only/fake-embed',
      relays: ['responses'],
    },
  },
  async start() {
    const fake = await startFakeOpenAi({ keys: [env.OPENAI_API_KEY] });
    const only = (wire: string) =>
      `{name: ${wire}-only, base_url: "${fake.baseUrl}", key_env: OPENAI_API_KEY, models: ["*"], wire: ${wire}, prices: {input: "1", output: "2"}}`;
    return {
      fake,
      config: {
        providers: `openai: {base_url: "${fake.baseUrl}"}`,
        upstreams: [only('chat'), only('responses')],
      },
      get requests() {
        return fake.requests;
      },
      script: (reply) => fake.script(({ path }) => answerOf(reply, path)),
      refuse: (error) =>
        fake.script({ error: { message: 'Something went wrong.', ...error, type: 'invalid_request_error' } }),
      watchDisconnect: () => () => fake.idle(),
      forget: () => fake.forget(),
      close: () => fake.close(),
    };
  },
};

function answerOf(reply: ScriptedReply, path: string): FakeAnswer {
  const { calls, interleaved = false, breaks, breaksAfter, ...same } = reply;
  const events = breaksAfter ?? (path.endsWith('/responses') ? 6 : 3);
  return {
    ...same,
    callsInterleave: interleaved,
    ...(calls && { calls: calls.map(({ name, input }) => ({ name, arguments: input ?? '' })) }),
    ...(breaks && { breakAfter: { events, by: breaks } }),
  };
}
