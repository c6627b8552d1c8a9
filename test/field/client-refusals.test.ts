import { describe, expect, test } from 'vitest';
import type { Inference } from '../../src/daemon/features/upstreams/neutral.ts';
import { chatAdapter } from '../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { callOf } from '../daemon/upstream/upstream-fixture.ts';
import { chat, history, type Json, refusing, responses, strictTool, type Wire } from './refusing-upstream.ts';

const member = (name: string) => (body: Json) => JSON.stringify(body).includes(`"${name}":`);
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
