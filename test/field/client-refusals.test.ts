import { describe, expect, test } from 'vitest';
import { parseChat } from '../../src/daemon/features/inference/formats/chat-completions/parse.ts';
import { parseResponses } from '../../src/daemon/features/inference/formats/responses/parse.ts';
import { parseInput } from '../../src/daemon/features/inference/formats/responses/parse-input.ts';
import { translatingUpstreams } from '../../src/daemon/features/inference/translation/translating-upstreams.ts';
import type { Inference, ReasoningOrigin } from '../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../src/daemon/upstream/providers/anthropic/index.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { responsesAdapter } from '../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';
import { fakeWorld } from '../support/fake-world.ts';

type Json = Record<string, unknown>;

const settings = { name: 'acme', baseUrl: 'https://llm.acme.example/v1' };
const adapters = {
  chat: chatAdapter(settings),
  responses: responsesAdapter(settings),
  messages: anthropicAdapter(settings),
};
type Wire = keyof typeof adapters;

/** An upstream that refuses bodies, by its status and error, and the bodies that it got. */
function refusing(wire: Wire, refuse: (body: Json) => { status?: number; error: Json } | undefined) {
  const adapter = adapters[wire];
  const bodies: Json[] = [];
  const upstream = () => ({
    name: settings.name,
    async open(call: UpstreamCall) {
      const body = JSON.parse(adapter.request(call).body) as Json;
      bodies.push(body);
      const refused = refuse(body);
      if (refused) throw adapter.failure(refused.status ?? 400, {}, JSON.stringify(refused));
      async function* batches() {}
      return { kind: 'stream' as const, batches: batches() };
    },
  });
  let current = upstream();
  const upstreams = translatingUpstreams({ get: () => current as never }, fakeWorld());
  return {
    bodies,
    reload: () => {
      current = upstream();
    },
    open: (inference: Inference, model = 'custom') =>
      upstreams
        .get('acme')
        ?.open(callOf(inference, { model, wire, outputTokensMax: 50 }), new AbortController().signal),
  };
}

const nothing = () => undefined;
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
const history = [
  { role: 'user', content: 'a' },
  { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: 'b' },
];
const strictTool = {
  type: 'function',
  function: { name: 'f', strict: true, parameters: { type: 'object', properties: {} } },
};
const chat = (more: Json = {}) =>
  parseChat({ model: 'm', stream: true, messages: history, ...more } as never, nothing);
const origin: ReasoningOrigin = {
  provider: 'acme',
  model: 'custom',
  payload: { reasoning_content: 'hm', encrypted_content: 'sealed' },
};
const responses = () => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', summary: [], encrypted_content: 'ours' },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'b' },
  ];
  const items = parseInput(input, () => origin, String);
  const tools = [
    { type: 'function', name: 'f', strict: true, parameters: { type: 'object', properties: {} } },
  ];
  return parseResponses({ model: 'm', stream: true, input, tools } as never, items);
};

const reasoningIn = ({ messages }: Json) => (messages as Json[])[1]?.reasoning_content;
const isStrict = ({ tools }: Json) => JSON.stringify(tools ?? []).includes('"strict"');

interface Case {
  cite: string;
  wire: Wire;
  refuse: (body: Json) => boolean;
  status?: number;
  error: Json;
  inference: () => Inference;
  /** What the second request has. */
  mended: Json;
  dropped?: string[];
}

/** What servers refuse of requests that the caller could not have written in another way. Sentences are shortened. */
const cases: Case[] = [
  {
    cite: 'maximhq/bifrost#5892: a new model',
    wire: 'chat',
    refuse: (body) => 'max_tokens' in body,
    error: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      code: 'unsupported_parameter',
      param: 'max_tokens',
    },
    inference: responses,
    mended: { max_completion_tokens: 50 },
  },
  {
    cite: 'anomalyco/opencode#37964: an older server',
    wire: 'chat',
    refuse: (body) => 'max_completion_tokens' in body,
    status: 422,
    error: { message: 'max_completion_tokens: Extra inputs are not permitted' },
    inference: () => chat({ max_completion_tokens: 60 }),
    mended: { max_tokens: 50 },
  },
  {
    cite: 'NousResearch/hermes-agent#109143: no usage in streams',
    wire: 'chat',
    refuse: (body) => 'stream_options' in body,
    error: { message: 'Unrecognized request argument supplied: stream_options' },
    inference: chat,
    mended: { stream: true },
  },
  ...[chat, responses].map(
    (inference): Case => ({
      cite: 'CherryHQ/cherry-studio#16790, NousResearch/hermes-agent#34182: Cerebras',
      wire: 'chat',
      refuse: (body) => reasoningIn(body) !== undefined,
      error: {
        message:
          "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
        type: 'invalid_request_error',
        param: 'validation_error',
        code: 'wrong_api_format',
      },
      inference,
      mended: {},
    }),
  ),
  {
    cite: 'BerriAI/litellm#30835, mnfst/llm-gateway#1074: Mistral behind a proxy',
    wire: 'chat',
    refuse: (body) => reasoningIn(body) !== undefined,
    status: 422,
    error: {
      detail: [
        {
          loc: ['body', 'messages', 5, 'assistant', 'reasoning_content'],
          msg: 'Extra inputs are not permitted',
        },
      ],
    },
    inference: chat,
    mended: {},
  },
  {
    cite: 'mastra-ai/mastra#12592, continuedev/continue#11711: Kimi behind another name',
    wire: 'chat',
    refuse: (body) => !reasoningIn(body),
    error: {
      message:
        'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
      type: 'invalid_request_error',
    },
    inference: () => chat({ messages: history.map(({ reasoning_content: _, ...message }) => message) }),
    mended: { messages: [{}, { reasoning_content: '.' }, {}] },
  },
  {
    cite: 'anomalyco/opencode#25758: the reasoning of the thinking mode',
    wire: 'chat',
    refuse: (body) => !reasoningIn(body),
    error: { message: 'The reasoning_content in the thinking mode must be passed back to the API.' },
    inference: () => chat({ messages: history.map(({ reasoning_content: _, ...message }) => message) }),
    mended: { messages: [{}, { reasoning_content: '.' }, {}] },
  },
  {
    cite: 'a server without strict tools',
    wire: 'chat',
    refuse: isStrict,
    error: { message: 'tools.0.function.strict: Extra inputs are not permitted' },
    inference: () => chat({ tools: [strictTool] }),
    mended: { tools: [{ function: { name: 'f' } }] },
    dropped: ['tools[0].function.strict'],
  },
  {
    cite: 'the same, in the Responses format',
    wire: 'responses',
    refuse: isStrict,
    error: { message: "Unknown parameter: 'tools[0].strict'.", param: 'tools[0].strict' },
    inference: responses,
    mended: { tools: [{ name: 'f' }] },
    dropped: ['tools[0].strict'],
  },
];

describe.each(cases)('$cite', ({ wire, refuse, status, error, inference, mended, dropped = [] }) => {
  const refusal = (body: Json) => (refuse(body) ? { ...(status && { status }), error } : undefined);

  test('a refusal is mended, asked again once, and remembered for the model', async () => {
    const { open, bodies } = refusing(wire, refusal);
    const answer = await open(inference());
    expect(answer?.dropped?.map(({ param }) => param) ?? []).toEqual(dropped);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toMatchObject(mended);
    await open(inference());
    expect(bodies).toHaveLength(3);
    await open(inference(), 'another');
    // It does not see the reasoning of the first.
    expect(bodies).toHaveLength(refuse(bodies[3] as Json) ? 5 : 4);
  });

  test('it is forgotten when the configuration is read again', async () => {
    const { open, bodies, reload } = refusing(wire, refusal);
    await open(inference());
    reload();
    await open(inference());
    expect(bodies).toHaveLength(4);
  });

  test('a server that refuses either way is asked once more, and nothing is remembered', async () => {
    const { open, bodies } = refusing(wire, () => ({ ...(status && { status }), error }));
    await expect(open(inference())).rejects.toMatchObject({ kind: 'caller' });
    expect(bodies).toHaveLength(2);
    await expect(open(inference())).rejects.toMatchObject({ kind: 'caller' });
    expect(bodies).toHaveLength(4);
  });
});

test.each([
  { message: 'The encrypted content gAAA...ng== could not be verified.', code: 'invalid_encrypted_content' },
  { message: 'OpenAIException - The encrypted content gAAA...OA== could not be verified.', code: '400' },
])(
  'reasoning that cannot be decrypted is left out of this conversation: openai/codex#8128, #8100',
  async (error) => {
    const hasReasoning = ({ input }: Json) => (input as Json[]).some(({ type }) => type === 'reasoning');
    const { open, bodies } = refusing('responses', (body) => (hasReasoning(body) ? { error } : undefined));
    await open(responses());
    expect(bodies.map(hasReasoning)).toEqual([true, false]);
    expect(bodies[1]?.input).toHaveLength(3);
    await open(responses());
    expect(bodies.map(hasReasoning)).toEqual([true, false, true, false]);
  },
);

test('Kimi gets reasoning in messages with calls from the start: anomalyco/opencode#16318, earendil-works/pi#4251', () => {
  const { request } = chatAdapter({ name: 'kimi', baseUrl: 'https://api.moonshot.ai/v1' });
  const plain = [
    ...history.map(({ reasoning_content: _, ...message }) => message),
    { role: 'assistant', content: 'c' },
  ];
  const { messages } = JSON.parse(request(callOf(chat({ messages: plain }))).body);
  expect(messages[1].reasoning_content).toBe('.');
  expect(messages[3]).not.toHaveProperty('reasoning_content');
});

test('a sentence that names both limits of the output keeps both', async () => {
  const message = 'Setting max_tokens and max_completion_tokens at the same time is invalid.';
  const { open } = refusing('chat', () => ({ error: { message } }));
  await expect(open(responses())).rejects.toMatchObject({ details: { publicMessage: message } });
});

test('other refusals are not asked again', async () => {
  for (const message of ['max_tokens must be at most 8192.', 'tools[0].function.name is too long', 'No.']) {
    const { open, bodies } = refusing('chat', () => ({ error: { message } }));
    await expect(open(chat({ tools: [strictTool] }))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  }
});
