import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { modelCallBodyLimit, modelCallErrors, modelCallHeaders } from './responses.ts';
import { ServiceAnswer, ServiceMember } from './service-member.ts';

/** The chat-completions format. Source: the types of the OpenAI SDK. Objects stay open. */

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema));
const Open = Type.Record(Type.String(), Type.Unknown());

export const ChatPart = Type.Object(
  {
    type: Type.String({ description: 'text, refusal, image_url, input_audio, file' }),
    text: Type.Optional(Type.String()),
    refusal: Type.Optional(Type.String()),
    image_url: Type.Optional(Type.Union([Type.String(), Open])),
    input_audio: Type.Optional(Open),
    file: Type.Optional(Open),
  },
  { additionalProperties: true },
);

export const ChatToolCall = Type.Object(
  {
    id: Type.Optional(Type.String({ maxLength: 200 })),
    type: Type.Optional(Type.String()),
    function: Type.Optional(
      Type.Object(
        { name: Type.String(), arguments: Type.Optional(Type.String()) },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true },
);

export const ChatMessage = Type.Object(
  {
    role: Type.String({ description: 'system, developer, user, assistant, tool or function' }),
    content: maybe(Type.Union([Type.String(), Type.Array(ChatPart)])),
    name: maybe(Type.String()),
    tool_calls: maybe(Type.Array(ChatToolCall)),
    tool_call_id: Type.Optional(Type.String({ maxLength: 200 })),
    refusal: maybe(Type.String()),
  },
  { additionalProperties: true },
);

export const CreateChatCompletionBody = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    stream: maybe(Type.Boolean()),
    stream_options: maybe(
      Type.Object({ include_usage: maybe(Type.Boolean()) }, { additionalProperties: true }),
    ),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    n: maybe(Type.Integer({ minimum: 1, maximum: 128 })),
    stop: maybe(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 16 })])),
    seed: maybe(Type.Integer()),
    max_tokens: maybe(Type.Integer({ minimum: 1 })),
    max_completion_tokens: maybe(Type.Integer({ minimum: 1 })),
    logprobs: maybe(Type.Boolean()),
    top_logprobs: maybe(Type.Integer({ minimum: 0, maximum: 20 })),
    tools: maybe(
      Type.Array(Type.Object({ type: Type.Optional(Type.String()) }, { additionalProperties: true })),
    ),
    tool_choice: maybe(Type.Union([Type.String(), Open])),
    parallel_tool_calls: maybe(Type.Boolean()),
    response_format: maybe(Open),
    reasoning_effort: maybe(Type.String()),
    verbosity: maybe(Type.String()),
    store: maybe(Type.Boolean()),
    metadata: maybe(Open),
    service: Type.Optional(ServiceMember),
  },
  { additionalProperties: true },
);

export type CreateChatCompletionBody = Static<typeof CreateChatCompletionBody>;

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(Open),
    usage: Type.Optional(nullable(Open)),
    service: Type.Optional(ServiceAnswer),
  },
  { additionalProperties: true },
);

export const ChatCompletionChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer({ description: 'Unix seconds' }),
    model: Type.String(),
    choices: Type.Array(Open),
    usage: Type.Optional(nullable(Open)),
  },
  { additionalProperties: true },
);

/**
 * Answers a model call in the chat-completions format, whole or as a stream. A stream carries chunks alone: its cost
 * is in `usage.cost_usd` of the last chunk (with `stream_options.include_usage`) and at `GET /v1/usage/{request_id}`.
 */
export const createChatCompletion = endpoint({
  id: 'createChatCompletion',
  method: 'POST',
  path: '/v1/chat/completions',
  summary: 'Create a chat completion.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  body: CreateChatCompletionBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: ChatCompletion,
  stream: { event: ChatCompletionChunk, done: true, always: false },
  responseHeaders: modelCallHeaders,
  errors: modelCallErrors,
});
