import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ErrorReply } from './error-reply.ts';
import {
  CallHeaders,
  idempotencyHeaders,
  ModelName,
  modelCallBodyLimit,
  modelCallErrors,
  modelCallHeaders,
} from './model-call.ts';
import {
  definedOrIn,
  InputItem,
  itemRules,
  namedSchema,
  OutputType,
  ToolChoice,
  toolDefinition,
} from './responses.ts';
import { ServiceAnswer, ServiceMember } from './service-member.ts';
import { AnyObject, callIdCharactersMax, dollars, ifType, maybe, nullable } from './vocabulary.ts';

/**
 * The chat-completions format. Source: the types of the OpenAI SDK. Additional members and values are allowed; those that the
 * gateway does not know go to providers with this format.
 */

export const ChatPart = Type.Object(
  {
    type: Type.String({ description: '`text`, `refusal`, `image_url`, `input_audio` or `file`.' }),
    text: maybe(Type.String()),
    refusal: maybe(Type.String()),
    image_url: Type.Optional(Type.Union([Type.String(), AnyObject])),
    input_audio: Type.Optional(AnyObject),
    file: Type.Optional(AnyObject),
  },
  { $id: 'ChatPart', additionalProperties: true },
);

/** What a message must be if its `role` is one of these. */
function ifRole(roles: readonly string[], then: object) {
  return { if: { properties: { role: { enum: roles } } }, then };
}

const CallId = Type.String({ maxLength: callIdCharactersMax });

export const ChatToolCall = Type.Object(
  {
    id: Type.Optional(CallId),
    type: Type.Optional(Type.String()),
    function: Type.Optional(
      Type.Object(
        { name: Type.String(), arguments: Type.Optional(Type.String()) },
        { additionalProperties: true },
      ),
    ),
  },
  { $id: 'ChatToolCall', additionalProperties: true },
);

/** A call in the history, which needs what an answer may lack. */
const MadeToolCall = Type.Object(
  {
    ...ChatToolCall.properties,
    id: CallId,
    function: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          arguments: maybe(
            Type.Union([Type.String(), AnyObject], { description: 'JSON text; an object is accepted, too.' }),
          ),
        },
        { additionalProperties: true },
      ),
    ),
  },
  {
    $id: 'ChatToolCallInput',
    allOf: [
      {
        if: { properties: { type: Type.Literal('function') } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: { required: ['function'], properties: { function: {} } },
      },
      ifType(['custom'], Type.Object({ custom: Type.Object({ name: Type.String(), input: Type.String() }) })),
    ],
    additionalProperties: true,
  },
);

export const ChatMessage = Type.Object(
  {
    role: Type.String({
      description: '`system`, `developer`, `user`, `assistant`, `tool`, or the earlier `function`.',
    }),
    content: maybe(Type.Union([Type.String(), Type.Array(ChatPart)])),
    name: maybe(Type.String()),
    tool_calls: maybe(Type.Array(MadeToolCall)),
    tool_call_id: maybe(CallId),
    refusal: maybe(Type.String()),
  },
  {
    $id: 'ChatMessage',
    allOf: [
      // Assistants may only have called tools, and the output of a tool may be empty.
      ifRole(['system', 'developer', 'user'], {
        required: ['content'],
        properties: { content: { type: ['string', 'array'] } },
      }),
      ifRole(['tool'], Type.Object({ tool_call_id: Type.String() })),
    ],
    additionalProperties: true,
  },
);

const ChatTool = Type.Object(
  {
    type: maybe(
      Type.String({
        description:
          '`function` or `custom`, with a member of that name. Tools as the other formats have them are accepted, too.',
      }),
    ),
  },
  {
    $id: 'ChatTool',
    allOf: [
      ifType(['function'], definedOrIn('function', { isNested: true })),
      ifType(['custom'], definedOrIn('custom', { isNested: true })),
      {
        if: { properties: { type: Type.Null() } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: Type.Object({ ...toolDefinition, input_schema: AnyObject }),
      },
    ],
    additionalProperties: true,
  },
);

const ResponseFormat = Type.Object(
  { type: OutputType, json_schema: maybe(Type.Object(namedSchema)) },
  { additionalProperties: true },
);

const OutputLimit = Type.Union([Type.Integer({ minimum: 1 }), Type.Literal(-1)], {
  description: 'At least 1; -1 is no limit, as for LM Studio and llama.cpp.',
});

const ChatInputItem = Type.Object(
  {
    ...InputItem.properties,
    type: maybe(
      Type.Enum([
        ...['message', 'reasoning', 'function_call', 'function_call_output'],
        ...['custom_tool_call', 'custom_tool_call_output'],
      ]),
    ),
  },
  { $id: 'ChatInputItem', allOf: itemRules(), additionalProperties: true },
);

export const CreateChatCompletionBody = Type.Object(
  {
    model: ModelName,
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    stream: maybe(Type.Boolean({ description: 'Whether to stream the answer as server-sent events.' })),
    stream_options: maybe(
      Type.Object({ include_usage: maybe(Type.Boolean()) }, { additionalProperties: true }),
    ),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    n: maybe(
      Type.Integer({
        minimum: 1,
        maximum: 128,
        description: 'More than 1 requires a provider that speaks this format.',
      }),
    ),
    stop: maybe(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])),
    seed: maybe(Type.Integer()),
    max_tokens: maybe(OutputLimit),
    max_completion_tokens: maybe(OutputLimit),
    logprobs: maybe(Type.Boolean()),
    top_logprobs: maybe(Type.Integer({ minimum: 0, maximum: 20 })),
    tools: maybe(Type.Array(ChatTool)),
    tool_choice: maybe(ToolChoice),
    parallel_tool_calls: maybe(Type.Boolean()),
    response_format: maybe(ResponseFormat),
    reasoning_effort: maybe(Type.String()),
    verbosity: maybe(Type.String()),
    store: maybe(Type.Boolean()),
    metadata: maybe(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Passed on to providers that speak this format; OpenAI’s accept strings only.',
      }),
    ),
    service: maybe(ServiceMember),
  },
  {
    $id: 'CreateChatCompletion',
    additionalProperties: true,
    description: 'Additional members are passed on to providers that speak this format.',
  },
);

export type CreateChatCompletionBody = Static<typeof CreateChatCompletionBody>;

/** What a client sends. */
export const CreateChatCompletionRequest = Type.Object(
  {
    ...CreateChatCompletionBody.properties,
    messages: Type.Optional(CreateChatCompletionBody.properties.messages),
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(ChatInputItem, { minItems: 1 })], {
        description: 'The conversation in the Responses format, as Cursor sends it, in place of `messages`.',
      }),
    ),
  },
  {
    $id: 'CreateChatCompletionRequest',
    anyOf: [{ required: ['messages'] }, { required: ['input'] }],
    additionalProperties: true,
    description: 'Additional members are passed on to providers that speak this format.',
  },
);

export type CreateChatCompletionRequest = Static<typeof CreateChatCompletionRequest>;

const ChatUsage = Type.Object(
  {
    prompt_tokens: maybe(Type.Integer()),
    completion_tokens: maybe(Type.Integer()),
    total_tokens: maybe(Type.Integer()),
    prompt_tokens_details: maybe(AnyObject),
    completion_tokens_details: maybe(AnyObject),
    cost_usd: Type.Optional(nullable(dollars('The cost of the call; null if the price is unknown.'))),
  },
  { $id: 'ChatUsage', additionalProperties: true },
);

/** Members shared by messages and deltas; providers may add others. */
const said = {
  role: maybe(Type.String()),
  content: maybe(Type.String()),
  refusal: maybe(Type.String()),
  reasoning_content: maybe(
    Type.String({ description: 'The model’s reasoning, if the provider returns it.' }),
  ),
};

const ending = {
  index: Type.Optional(Type.Integer({ minimum: 0 })),
  finish_reason: maybe(
    Type.String({ description: '`stop`, `length`, `tool_calls` or `content_filter`; null before the end.' }),
  ),
  logprobs: maybe(AnyObject),
};

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          ...ending,
          message: Type.Object(
            { ...said, tool_calls: maybe(Type.Array(ChatToolCall)) },
            { additionalProperties: true },
          ),
        },
        { additionalProperties: true },
      ),
    ),
    usage: maybe(ChatUsage),
    service: Type.Optional(ServiceAnswer),
  },
  { $id: 'ChatCompletion', additionalProperties: true },
);

export const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer({ description: 'Unix seconds.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          ...ending,
          delta: maybe(
            Type.Object(
              {
                ...said,
                tool_calls: maybe(
                  Type.Array(AnyObject, { description: 'Parts of tool calls; `index` identifies the call.' }),
                ),
              },
              { additionalProperties: true },
            ),
          ),
        },
        { additionalProperties: true },
      ),
    ),
    usage: maybe(ChatUsage),
  },
  { $id: 'ChatCompletionChunk', additionalProperties: true },
);

/**
 * Creates a chat completion, as JSON or as a stream. A stream contains only chunks: its cost is in `usage.cost_usd` of
 * the last chunk (with `stream_options.include_usage`) and at `GET /v1/usage/{request_id}`.
 */
export const createChatCompletion = endpoint({
  id: 'createChatCompletion',
  method: 'POST',
  path: '/v1/chat/completions',
  summary: 'Create a chat completion.',
  description: [
    'A model call in the chat-completions format. With `stream` the response is a stream of chunks that ends with',
    '`data: [DONE]`. It contains only chunks, since clients validate each of them: provider and cost are returned by',
    '`GET /v1/usage/{request_id}`, and the cost by `usage.cost_usd` of the last chunk with `stream_options.include_usage`.',
    'An error after the start is one `data:` line with `error`, followed by `data: [DONE]`.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  payable: true,
  headers: CallHeaders,
  body: CreateChatCompletionRequest,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: ChatCompletion,
  stream: { event: Type.Union([ChatCompletionChunk, ErrorReply]), done: true, always: false },
  responseHeaders: { ...modelCallHeaders, ...idempotencyHeaders },
  errors: modelCallErrors,
});
