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
    open: (inference: Inference, model = 'custom', outputTokensMax = 50) =>
      upstreams
        .get('acme')
        ?.open(callOf(inference, { model, wire, outputTokensMax }), new AbortController().signal),
    learned: () => upstreams.refusalsOf('acme').map(({ member, becomes }) => ({ member, becomes })),
  };
}

const nothing = () => undefined;
const member = (name: string) => (body: Json) => JSON.stringify(body).includes(`"${name}":`);
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
const responses = (more: Json = {}) => {
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
  return parseResponses({ model: 'm', stream: true, input, tools, ...more } as never, items);
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

const anything = {
  type: 'object',
  properties: {
    a: true,
    b: { not: {} },
    c: { type: 'string', pattern: 'x', maxLength: 65_536, minLength: 1 },
    d: false,
    e: { type: 'array', items: true, maxItems: 5 },
    f: { type: 'string', pattern: '^x$' },
  },
  additionalProperties: false,
};
const asGrammar = {
  ...anything,
  properties: {
    a: {},
    b: {},
    c: { type: 'string', minLength: 1 },
    e: { type: 'array', items: {}, maxItems: 5 },
    f: { type: 'string', pattern: '^x$' },
  },
};

/** A call that must be made, whatever the format of its caller. */
function forced(made: typeof chat | typeof responses, choice: unknown): Inference {
  const toolChoice =
    choice === 'required' ? { mode: 'required' as const } : (choice as Inference['toolChoice']);
  if (made === responses) return { ...responses(), toolChoice };
  const tool_choice = choice === 'required' ? choice : { type: 'function', function: { name: 'f' } };
  return chat({ tools: [strictTool], tool_choice });
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
  ...[() => chat(), () => responses()].map(
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
    cite: 'router-for-me/CLIProxyAPI#4893: also in messages without calls',
    wire: 'chat',
    refuse: ({ messages }) =>
      (messages as Json[]).some(({ role, reasoning_content: text }) => role === 'assistant' && !text),
    error: { message: 'The reasoning_content in the thinking mode must be passed back to the API.' },
    inference: () => chat({ messages: [...history, { role: 'assistant', content: 'c' }, history[0]] }),
    mended: { messages: [{}, { reasoning_content: 'hm' }, {}, { reasoning_content: '.' }, {}] },
  },
  {
    cite: 'MoonshotAI/kimi-code#3660: NVIDIA',
    wire: 'chat',
    refuse: member('prompt_cache_key'),
    error: { message: 'Validation: Unsupported parameter(s): prompt_cache_key' },
    inference: () => chat({ prompt_cache_key: 'a' }),
    mended: { stream: true },
    dropped: ['prompt_cache_key'],
  },
  {
    cite: 'MoonshotAI/kimi-code#2611: Azure',
    wire: 'chat',
    refuse: member('prompt_cache_key'),
    error: { message: 'Unrecognized request argument supplied: prompt_cache_key', param: null, code: null },
    inference: () => chat({ prompt_cache_key: 'a' }),
    mended: { stream: true },
    dropped: ['prompt_cache_key'],
  },
  {
    cite: 'anomalyco/opencode#4386: Fireworks',
    wire: 'chat',
    refuse: member('promptCacheKey'),
    error: { message: "Extra inputs are not permitted, field: 'promptCacheKey', value: 'ses_571eef'" },
    inference: () => chat({ promptCacheKey: 'ses_571eef' }),
    mended: { stream: true },
    dropped: ['promptCacheKey'],
  },
  {
    cite: 'lidge-jun/opencodex#4853: a gateway behind this one',
    wire: 'responses',
    refuse: member('access_programs'),
    error: {
      message:
        'Error from provider (Console Go): Upstream request failed: [invalid_request_error] unknown parameter `access_programs`',
    },
    inference: () => responses({ access_programs: ['a'] }),
    mended: { stream: true },
    dropped: ['access_programs'],
  },
  {
    cite: 'routatic/proxy#53: marks for the cache',
    wire: 'chat',
    refuse: member('cache_control'),
    error: {
      message: "Error from provider: Extra inputs are not permitted, field: 'messages[0].cache_control'",
    },
    inference: () =>
      chat({ messages: [{ role: 'user', content: 'a', cache_control: { type: 'ephemeral' } }] }),
    mended: { messages: [{ role: 'user', content: 'a' }] },
    dropped: ['messages[].cache_control'],
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
  ...[chat, responses].flatMap((made) =>
    ['required', { mode: 'function' as const, name: 'f' }].map(
      (choice): Case => ({
        cite: 'deepseek-ai/DeepSeek-V3#1376, can1357/oh-my-pi#7315, tickernelz/opencode-mem#253: a call that DeepSeek must make',
        wire: 'chat',
        refuse: ({ tool_choice: asked, thinking }) =>
          asked !== undefined && asked !== 'auto' && (thinking as Json | undefined)?.type !== 'disabled',
        error: { message: 'Thinking mode does not support this tool_choice', type: 'invalid_request_error' },
        inference: () => forced(made, choice),
        mended: { thinking: { type: 'disabled' } },
      }),
    ),
  ),
  ...[
    [
      'Unable to generate parser for this template. JSON schema conversion failed:\nUnrecognized schema: true',
    ],
    ["JSON schema conversion failed: Pattern must start with '^' and end with '$'"],
  ].map(
    ([message]): Case => ({
      cite: 'can1357/oh-my-pi#5914, ggml-org/llama.cpp#17574, unslothai/unsloth#7512: schemas that are no grammar',
      wire: 'chat',
      refuse: ({ tools }) => /"(not|d)":|65536|:true/.test(JSON.stringify(tools)),
      error: { code: 400, message, type: 'invalid_request_error' },
      inference: () => chat({ tools: [{ type: 'function', function: { name: 'f', parameters: anything } }] }),
      mended: { tools: [{ function: { parameters: asGrammar } }] },
    }),
  ),
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

interface TooMuch {
  cite: string;
  /** What the client asks for, and what of it the server accepts. */
  asked: number;
  says: string;
  accepted: number;
  /** The input fills the rest of the context: the limit is one of this call. */
  isOfCall?: boolean;
}

const tooMuch: TooMuch[] = [
  {
    cite: 'cline/cline#13229, DeepInfra',
    asked: 32_000,
    says: 'max_tokens=32000 cannot be greater than max_model_len=max_total_tokens=28672. Please request fewer.',
    accepted: 28_672,
  },
  {
    cite: 'tashfeenahmed/freellmapi#980, Groq',
    asked: 16_000,
    says: '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    accepted: 8_192,
  },
  {
    cite: 'project-arbr/arbr-control-plane#46, ogx-ai/ogx#5696',
    asked: 32_000,
    says: 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
    accepted: 16_384,
  },
  {
    cite: 'earendil-works/pi#4390, anthropics/claude-code#24451',
    asked: 250_000,
    says: 'max_tokens: 250000 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-7-20260401',
    accepted: 128_000,
  },
  {
    cite: 'NousResearch/hermes-agent#51787, Volcengine',
    asked: 65_536,
    says: 'The parameter `max_tokens` is not valid: integer above maximum value, expected a value <= 32768, but got 65536 instead.',
    accepted: 32_768,
  },
  {
    cite: 'Alibaba',
    asked: 32_000,
    says: 'Range of max_tokens should be [1, 8,192]',
    accepted: 8_192,
  },
  {
    cite: 'farion1231/cc-switch#1022, claude-code-best/claude-code#272, vLLM',
    asked: 32_000,
    says: "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 17459 input tokens (32000 > 32768 - 17459).",
    accepted: 15_002,
    isOfCall: true,
  },
  {
    cite: 'griffinwork40/agent-afk#962, Anthropic',
    asked: 64_000,
    says: 'input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    accepted: 49_000,
    isOfCall: true,
  },
  {
    cite: 'openclaw/openclaw#85921, OpenRouter',
    asked: 262_144,
    says: "This endpoint's maximum context length is 262144 tokens. However, you requested about 284283 tokens (8963 of text input, 13176 of tool input, 262144 in the output).",
    accepted: 235_204,
    isOfCall: true,
  },
  {
    cite: 'musistudio/claude-code-router#1799, vLLM behind another gateway',
    asked: 32_000,
    says: "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 262462 tokens: 230462 tokens from the input messages and 32000 tokens for the completion.",
    accepted: 31_048,
    isOfCall: true,
  },
];

describe.each(tooMuch)('$cite: more output than is accepted', ({ asked, says, accepted, isOfCall }) => {
  const limitOf = ({ max_tokens, max_completion_tokens }: Json) => max_tokens ?? max_completion_tokens;
  const refuse = (body: Json) =>
    Number(limitOf(body)) > accepted ? { error: { message: says } } : undefined;

  test('is asked for again within the limit', async () => {
    const { open, bodies, learned } = refusing('chat', refuse);
    await open(chat(), 'custom', asked);
    await open(chat(), 'custom', asked);
    expect(bodies.map(limitOf)).toEqual(
      isOfCall ? [asked, accepted, asked, accepted] : [asked, accepted, accepted],
    );
    expect(learned()).toEqual(isOfCall ? [] : [{ member: 'max_tokens', becomes: String(accepted) }]);
    await open(chat(), 'custom', 50);
    expect(bodies.map(limitOf).at(-1)).toBe(50);
  });

  test('is refused with the sentence of the provider if that did not help', async () => {
    const { open, bodies } = refusing('chat', () => ({ error: { message: says } }));
    await expect(open(chat(), 'custom', asked)).rejects.toMatchObject({ kind: 'caller' });
    expect(bodies).toHaveLength(2);
  });
});

test.each([
  "This model's maximum context length is 32768 tokens and your request has 31900 input tokens (32000 > 32768 - 31900).",
  'input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
  '`max_tokens` must be greater than `thinking.budget_tokens`.',
])('a shorter answer does not help: %s', async (message) => {
  const { open, bodies } = refusing('chat', () => ({ error: { message } }));
  await expect(open(chat(), 'custom', 32_000)).rejects.toMatchObject({ kind: 'caller' });
  expect(bodies).toHaveLength(1);
});

test('a member on which the answer depends is not left out', async () => {
  for (const name of ['response_format', 'service_tier', 'web_search_options', 'guided_json']) {
    const error = { message: `Unknown parameter: '${name}'.`, param: name, code: 'unknown_parameter' };
    const { open, bodies } = refusing('chat', (body) => (name in body ? { error } : undefined));
    await expect(open(chat({ [name]: {} }))).rejects.toMatchObject({ details: { param: name } });
    expect(bodies).toHaveLength(1);
  }
});

test('nor is a misspelled one', async () => {
  for (const name of ['temprature', 'max_token', 'respnse_format']) {
    const error = { message: `Unrecognized request argument supplied: ${name}` };
    const { open, bodies } = refusing('chat', () => ({ error }));
    await expect(open(chat({ [name]: 1 }))).rejects.toMatchObject({ kind: 'caller' });
    expect(bodies).toHaveLength(1);
  }
});

test('other refusals are not asked again', async () => {
  for (const message of ['max_tokens must be at most 8192.', 'tools[0].function.name is too long', 'No.']) {
    const { open, bodies } = refusing('chat', () => ({ error: { message } }));
    await expect(open(chat({ tools: [strictTool] }))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  }
});

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const asSchema = { type: 'json_schema', json_schema: { name: 'answer', schema } };
  const question = [{ role: 'user', content: 'Hello' }];
  const typeOf = ({ response_format: format, text }: Json) =>
    (format as Json | undefined)?.type ?? ((text as Json | undefined)?.format as Json | undefined)?.type;
  const asked = (format: Json) => chat({ messages: question, response_format: format });
  const lastText = ({ messages }: Json) => String((messages as Json[]).at(-1)?.content);
  const instruction = /^Hello\n\nAnswer with nothing but JSON that conforms .*"required":\["a"\]/s;

  test.each<[cite: string, status: number, error: Json]>([
    ['BerriAI/litellm#42245', 400, { error: { message: 'This response_format type is unavailable now' } }],
    [
      'BerriAI/litellm#31466',
      422,
      {
        error: {
          message: 'Failed to read it: response_format.type `json_schema` is unavailable now at line 1',
        },
      },
    ],
    [
      'dzhng/deep-research#127',
      400,
      {
        error: {
          message: "'response_format.type' : value is not one of the allowed values ['text','json_object']",
        },
      },
    ],
    [
      'ItzCrazyKns/Vane#980',
      400,
      {
        error: {
          message:
            'This model does not support response format `json_schema`. See the list of models at https://acme.example/docs',
        },
      },
    ],
    [
      'openai/openai-dotnet#276',
      400,
      {
        error: {
          message:
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with model version `m`.",
          param: 'response_format',
        },
      },
    ],
  ])('a schema becomes JSON mode and an instruction: %s', async (_cite, status, error) => {
    const { bodies, open, learned } = refusing('chat', (body) =>
      typeOf(body) === 'json_schema' ? { status, error } : undefined,
    );
    await open(asked(asSchema));
    await open(asked(asSchema));
    expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object', 'json_object']);
    for (const body of bodies.slice(1)) expect(lastText(body)).toMatch(instruction);
    expect(learned()).toEqual([{ member: 'response_format: json_schema', becomes: 'json_object' }]);
  });

  test('also from a caller of the Responses format, and to a server of it', async () => {
    const text = { format: { type: 'json_schema', name: 'answer', schema } };
    const error = {
      error: { message: 'text.format: json_schema is not supported', param: 'text.format.type' },
    };
    for (const wire of ['chat', 'responses'] as const) {
      const { bodies, open } = refusing(wire, (body) =>
        typeOf(body) === 'json_schema' ? { error } : undefined,
      );
      await open(responses({ text }));
      expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object']);
      expect(JSON.stringify(bodies[1])).toContain('conforms to this JSON Schema');
    }
  });

  test('an older model of Anthropic gets the instruction: review of laurent22/joplin#15801', async () => {
    const message = 'output_config.format: Extra inputs are not permitted';
    const { bodies, open } = refusing('messages', ({ output_config: config }) =>
      config === undefined
        ? undefined
        : { error: { type: 'error', error: { type: 'invalid_request_error', message } } },
    );
    await open(asked(asSchema), 'claude-sonnet-4-5');
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1])).toContain('conforms to this JSON Schema');
  });

  const tools = [strictTool];
  test.each([
    ['agno-agi/agno#1065', '`response_format` json_object cannot be combined with tool/function calling'],
    ['vercel/ai#16540', 'json mode cannot be combined with tool/function calling'],
    [
      'googleapis/python-genai#867',
      "Function calling with a response mime type: 'application/json' is unsupported",
    ],
    ['of Cerebras', '"tools" is incompatible with "response_format"'],
  ])('next to tools there is the instruction: %s', async (_cite, message) => {
    const { bodies, open } = refusing('chat', (body) =>
      body.response_format && body.tools ? { error: { error: { message } } } : undefined,
    );
    const both = chat({ messages: question, response_format: asSchema, tools });
    for (const _time of [1, 2]) await open(both);
    await open(asked(asSchema));
    expect(bodies.map(typeOf)).toEqual(['json_schema', undefined, undefined, 'json_schema']);
    expect(lastText(bodies[2] as Json)).toMatch(instruction);
  });

  // BerriAI/litellm#6610
  test('without JSON mode, there is the instruction alone', async () => {
    const message = 'The response_format parameter is unsupported at the moment. Leave it unset.';
    const { bodies, open, learned } = refusing('chat', (body) =>
      body.response_format === undefined ? undefined : { error: { error: message } },
    );
    await open(asked(asSchema));
    await open(asked({ type: 'json_object' }));
    expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object', undefined, undefined]);
    expect(lastText(bodies[2] as Json)).toMatch(instruction);
    expect(lastText(bodies[3] as Json)).toMatch(/Answer with nothing but a JSON object,/);
    expect(learned()).toContainEqual({ member: 'response_format', becomes: null });
  });

  test.each([
    ['lmstudio-ai/lmstudio-bug-tracker#189', "'response_format.type' must be 'json_schema'"],
    ['LoadShine/tada#16', "'response_format.type' must be 'json_schema' or 'text'"],
  ])('JSON mode becomes the schema of an object: %s', async (_cite, error) => {
    const { bodies, open } = refusing('chat', (body) =>
      typeOf(body) === 'json_object' ? { error: { error } } : undefined,
    );
    for (const _time of [1, 2]) await open(asked({ type: 'json_object' }));
    await open(responses({ text: { format: { type: 'json_object' } } }));
    expect(bodies.map(typeOf)).toEqual(['json_object', 'json_schema', 'json_schema', 'json_schema']);
    expect(bodies[1]?.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' } },
    });
  });

  test.each([
    [
      'i-am-bee/beeai-framework#1215',
      'invalid schema for response format: response_format/json_schema/next_step: minItems is not supported',
    ],
    ['bhimrazy/receipt-ocr#20', "'response_format.json_schema.schema' must be an object"],
    [
      'of OpenAI',
      "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is not permitted.",
    ],
    [
      'of JSON mode',
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ],
  ])('the fault of a caller stays one: %s', async (_cite, message) => {
    const { bodies, open } = refusing('chat', () => ({
      error: { error: { message, code: 'invalid_request' } },
    }));
    await expect(open(asked(asSchema))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  });
});

test('a tool that must be called is the only one: lmstudio-ai/lmstudio-bug-tracker#670, can1357/oh-my-pi#6925', async () => {
  const error = {
    error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
  };
  const { bodies, open } = refusing('chat', ({ tool_choice: choice }) =>
    typeof choice === 'object' ? { error } : undefined,
  );
  const other = { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } };
  const named = { type: 'function', function: { name: 'f' } };
  for (const _time of [1, 2]) await open(chat({ tools: [other, strictTool], tool_choice: named }));
  await open(chat({ tools: [other, strictTool], tool_choice: 'auto' }));
  const names = ({ tools }: Json) => (tools as { function: Json }[]).map((tool) => tool.function.name);
  expect(bodies.map((body) => [names(body), body.tool_choice])).toEqual([
    [['g', 'f'], named],
    [['f'], 'required'],
    [['f'], 'required'],
    [['g', 'f'], 'auto'],
  ]);
});

test.each([
  [
    'moeru-ai/airi#1222',
    'Failed to read the body: messages[19]: invalid type: sequence, expected a string at line 1 column 9837',
  ],
  ['gptme/gptme#896', "'messages.0.content' : value must be a string"],
  ['tbphp/gpt-load#743', 'Upstream request failed: [invalid_request_error] Input should be a valid string'],
])('the texts of a message are one: %s', async (_cite, message) => {
  const texts = (...all: string[]) => all.map((text) => ({ type: 'text', text }));
  const { bodies, open } = refusing('chat', ({ messages }) =>
    (messages as Json[]).some(({ content }) => Array.isArray(content))
      ? { status: 422, error: { error: { message } } }
      : undefined,
  );
  const messages = [
    { role: 'system', content: texts('one', 'two') },
    { role: 'user', content: texts('three', 'four') },
    { role: 'assistant', content: texts('five') },
    { role: 'user', content: 'six' },
  ];
  for (const _time of [1, 2]) await open(chat({ messages }));
  expect(bodies).toHaveLength(3);
  for (const body of bodies.slice(1))
    expect((body.messages as Json[]).map(({ content }) => content)).toEqual([
      'one\n\ntwo',
      'three\n\nfour',
      'five',
      'six',
    ]);
});

describe('an effort that a model does not have becomes the next lower one', () => {
  test.each([
    [
      'router-for-me/CLIProxyAPI#1572',
      "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh'}",
    ],
    [
      'router-for-me/CLIProxyAPI#1307',
      "Validation error for `reasoning_effort`: expected one of 'low' | 'medium' | 'high', received 'xhigh'",
    ],
    ['nguyenphutrong/quotio#287', 'level "xhigh" not supported, valid levels: low, medium, high'],
    [
      'of OpenAI',
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
    ],
  ])('%s', async (_cite, message) => {
    const { bodies, open, learned } = refusing('chat', ({ reasoning_effort: effort }) =>
      effort === 'xhigh' ? { error: { error: { message } } } : undefined,
    );
    const answer = await open(chat({ reasoning_effort: 'xhigh' }));
    await open(chat({ reasoning_effort: 'xhigh' }));
    await open(chat({ reasoning_effort: 'low' }));
    await open(responses({ reasoning: { effort: 'xhigh' } }));
    expect(bodies.map((body) => body.reasoning_effort)).toEqual([
      'xhigh',
      'high',
      'high',
      'low',
      'xhigh',
      'high',
    ]);
    expect(answer?.dropped).toEqual([{ param: 'reasoning_effort' }]);
    expect(learned()).toEqual([{ member: 'reasoning_effort', becomes: 'high' }]);
  });

  // mistralai/mistral-vibe#1117
  test('and its lowest where there is none below', async () => {
    const message = "reasoning_effort must be one of ['low', 'high', 'max']";
    const accepted = ['low', 'high', 'max'];
    for (const [asked, sent] of [
      ['medium', 'low'],
      ['minimal', 'low'],
      ['xhigh', 'high'],
    ]) {
      const { bodies, open } = refusing('chat', ({ reasoning_effort: effort }) =>
        accepted.includes(String(effort)) ? undefined : { error: { error: { message } } },
      );
      await open(chat({ reasoning_effort: asked }));
      expect(bodies.at(-1)?.reasoning_effort).toBe(sent);
    }
  });

  test('but not none at all, where that is a way out', async () => {
    const message = "Tools with reasoning_effort are not supported. Set reasoning_effort to 'none'.";
    const { bodies, open } = refusing('chat', ({ reasoning_effort: effort }) =>
      effort === undefined ? undefined : { error: { error: { message } } },
    );
    await open(chat({ reasoning_effort: 'high' }));
    expect(bodies.map((body) => body.reasoning_effort)).toEqual(['high', undefined]);
  });
});

describe('an option with one value only is left out', () => {
  test.each([
    ['countbot-ai/CountBot#61', 'invalid temperature: only 1 is allowed for this model', 'temperature'],
    ['MoonshotAI/Kimi-K2#124', 'invalid temperature: only 0.6 is allowed for this model', 'temperature'],
    ['cecli-dev/cecli#484', 'invalid presence_penalty: only 0 is allowed for this model', 'presence_penalty'],
    ['workglow-dev/libs#746', '`temperature` may only be set to 1 when thinking is enabled', 'temperature'],
    [
      'n8n-io/n8n#14288',
      'The model returned the following errors: top_p must be unset when thinking is enabled',
      'top_p',
    ],
    [
      'QuantumNous/new-api#3124',
      '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
      'top_p',
    ],
    [
      'of Claude behind a proxy',
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      'top_p',
    ],
  ])('%s', async (_cite, message, name) => {
    const { bodies, open } = refusing('chat', (body) =>
      body[name] === undefined ? undefined : { error: { error: { message } } },
    );
    const asked = { temperature: 0.3, top_p: 0.5, presence_penalty: 0.1 };
    for (const _time of [1, 2]) {
      const answer = await open(chat(asked));
      expect(answer?.dropped).toEqual([{ param: name }]);
    }
    expect(bodies).toHaveLength(3);
    const { [name]: _left, ...kept } = asked as Json;
    expect(bodies.at(-1)).toMatchObject(kept);
    expect(bodies.at(-1)?.[name]).toBeUndefined();
  });

  test('but not one whose value is wrong', async () => {
    const message = 'temperature must be between 0 and 1';
    const { bodies, open } = refusing('chat', () => ({ error: { error: { message } } }));
    await expect(open(chat({ temperature: 1.5 }))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  });
});

describe('a conversation goes on with a message of the user', () => {
  const message =
    'This model does not support assistant message prefill. The conversation must end with a user message.';
  const ended = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const isPrefilled = ({ messages }: Json) => (messages as Json[]).at(-1)?.role === 'assistant';

  test.each([
    ['by chat: anomalyco/opencode#13768', 'chat'],
    ['by Messages: anthropics/claude-code#52433', 'messages'],
  ] as const)('%s', async (_cite, wire) => {
    const { bodies, open } = refusing(wire, (body) =>
      isPrefilled(body) ? { error: { error: { type: 'invalid_request_error', message } } } : undefined,
    );
    for (const _time of [1, 2]) await open(chat({ messages: ended }));
    await open(chat({ messages: ended.slice(0, 1) }));
    expect(bodies).toHaveLength(4);
    expect(bodies.map((body) => (body.messages as Json[]).length)).toEqual([2, 3, 3, 1]);
  });
});

test.each([
  ['vllm-project/vllm#2964', 'System role not supported'],
  ['sgl-project/sglang#1342', 'jinja2.exceptions.TemplateError: System role not supported'],
  ['of Google', 'Developer instruction is not enabled for models/gemma-3-27b-it'],
])('what the system says is the user’s: %s', async (_cite, message) => {
  const { bodies, open } = refusing('chat', ({ messages }) =>
    (messages as Json[]).some(({ role }) => role === 'system')
      ? { error: { object: 'error', message, code: 400 } }
      : undefined,
  );
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ];
  await open(chat({ messages }));
  await open(responses({ instructions: 'Be brief.' }));
  expect(bodies).toHaveLength(3);
  expect(bodies[1]?.messages).toEqual([{ role: 'user', content: 'Be brief.\n\na' }, ...messages.slice(2)]);
  expect(bodies[2]).toHaveProperty('messages[0]', { role: 'user', content: 'Be brief.\n\na' });
});

test('an output that is too short for a server is as long as it must be: earendil-works/pi#6522', async () => {
  const message =
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.";
  const { bodies, open } = refusing('chat', ({ max_tokens: tokens }) =>
    Number(tokens) < 16
      ? { error: { error: { message, param: 'max_output_tokens', code: 'integer_below_min_value' } } }
      : undefined,
  );
  await open(chat({ max_tokens: 1 }), 'custom', 1);
  expect(bodies.map((body) => body.max_tokens)).toEqual([1, 16]);
});
