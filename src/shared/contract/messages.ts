import { type Static, Type } from 'typebox';
import { sseEvent } from '../http/sse.ts';
import { endpoint } from './endpoint.ts';
import {
  CallHeaders,
  idempotencyHeaders,
  ModelName,
  modelCallBodyLimit,
  modelCallErrors,
  modelCallHeaders,
} from './model-call.ts';
import { ToolName } from './responses.ts';
import { ServiceMember } from './service-member.ts';
import { AnyObject, Count, ifType, maybe } from './vocabulary.ts';

/**
 * The Messages format. Source: Anthropic's API reference and the types of its SDK. Additional members are allowed, and so are
 * additional values, which go to providers with this format; only what the gateway itself reads is checked.
 */

export const MessageBlock = Type.Object(
  {
    type: Type.String({
      description:
        '`text`, `image`, `document`, `search_result`, `tool_use`, `tool_result`, `thinking`, `redacted_thinking`, or a block of a tool that Anthropic runs.',
    }),
  },
  { $id: 'MessageBlock', additionalProperties: true },
);

const Content = Type.Union([Type.String(), Type.Array(MessageBlock)]);

export const MessageParam = Type.Object(
  { role: Type.String({ description: '`user`, `assistant` or `system`.' }), content: Content },
  { $id: 'MessageParam', additionalProperties: true },
);

/** What a call and the counting of its tokens have in common. */
const prompt = {
  model: ModelName,
  messages: Type.Array(MessageParam, { minItems: 1 }),
  system: maybe(
    Type.Union([
      Type.String(),
      Type.Array(
        Type.Object(
          { type: Type.String({ description: '`text`.' }), text: Type.Optional(Type.String()) },
          { ...ifType(['text'], Type.Object({ text: Type.String() })), additionalProperties: true },
        ),
      ),
    ]),
  ),
  tools: maybe(
    Type.Array(
      Type.Object(
        { type: maybe(Type.String()), name: maybe(Type.String()) },
        {
          description: 'A function has no `type` or the type `custom`; the others are run by Anthropic.',
          if: { properties: { type: { enum: ['custom', null] } } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
          then: Type.Object({ name: ToolName, input_schema: AnyObject }),
          additionalProperties: true,
        },
      ),
    ),
  ),
  tool_choice: maybe(
    Type.Object(
      {
        type: Type.String({ description: '`auto`, `any`, `tool` or `none`.' }),
        name: maybe(Type.String()),
        disable_parallel_tool_use: maybe(Type.Boolean()),
      },
      { additionalProperties: true },
    ),
  ),
  thinking: maybe(
    Type.Object(
      {
        type: Type.String({ description: '`enabled`, `adaptive`, `between_tools` or `disabled`.' }),
        budget_tokens: maybe(
          Type.Integer({
            minimum: 1024,
            description: 'Required by `enabled`, and less than `max_tokens`; absent otherwise.',
          }),
        ),
        display: maybe(Type.String({ description: '`summarized` or `omitted`.' })),
      },
      { additionalProperties: true },
    ),
  ),
  output_config: maybe(
    Type.Object(
      {
        effort: maybe(Type.String({ description: '`low`, `medium`, `high`, `xhigh` or `max`.' })),
        format: maybe(
          Type.Object(
            { type: Type.String({ description: '`json_schema`.' }), schema: Type.Optional(AnyObject) },
            {
              ...ifType(['json_schema'], Type.Object({ schema: AnyObject })),
              additionalProperties: true,
            },
          ),
        ),
      },
      { additionalProperties: true },
    ),
  ),
};

export const CreateMessageBody = Type.Object(
  {
    ...prompt,
    max_tokens: Type.Integer({ minimum: 0 }),
    stream: maybe(Type.Boolean({ description: 'Whether to stream the answer as server-sent events.' })),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    top_k: maybe(Type.Integer({ minimum: 0 })),
    stop_sequences: maybe(Type.Array(Type.String())),
    metadata: maybe(AnyObject),
    service_tier: maybe(Type.String()),
    service: maybe(ServiceMember),
  },
  {
    $id: 'CreateMessage',
    additionalProperties: true,
    description: 'Additional members and values are passed on to providers that speak this format.',
  },
);

export type CreateMessageBody = Static<typeof CreateMessageBody>;

export const CountMessageTokensBody = Type.Object(
  { ...prompt, service: maybe(ServiceMember) },
  { $id: 'CountMessageTokens', additionalProperties: true },
);

export type CountMessageTokensBody = Static<typeof CountMessageTokensBody>;

const MessageUsage = Type.Object(
  {
    input_tokens: maybe(Count),
    cache_creation_input_tokens: maybe(Count),
    cache_read_input_tokens: maybe(Count),
    output_tokens: Count,
  },
  {
    $id: 'MessageUsage',
    additionalProperties: true,
    description: '`input_tokens` excludes tokens read from or written to a cache.',
  },
);

export const Message = Type.Object(
  {
    id: Type.String({ description: '`msg_…`' }),
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: Type.String(),
    content: Type.Array(MessageBlock),
    stop_reason: maybe(
      Type.String({
        description:
          '`end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `pause_turn`, `refusal` or `model_context_window_exceeded`.',
      }),
    ),
    stop_sequence: maybe(Type.String()),
    usage: MessageUsage,
  },
  { $id: 'Message', additionalProperties: true },
);

/** One event of a stream, named by `type`. */
export const MessageEvent = Type.Object(
  {
    type: Type.String({
      description:
        '`message_start`, `content_block_start`, `content_block_delta`, `content_block_stop`, `message_delta`, `message_stop`, `ping` or `error`.',
    }),
  },
  { $id: 'MessageEvent', additionalProperties: true },
);

/** Shows that a stream is alive. */
export const messagePing = sseEvent('{"type":"ping"}', 'ping');

const requestId = { 'request-id': 'The same as `x-request-id`, under the name that Anthropic’s SDKs read.' };

/** Creates a message, as JSON or as a stream, which contains only the events of the format. */
export const createMessage = endpoint({
  id: 'createMessage',
  method: 'POST',
  path: '/v1/messages',
  summary: 'Create a message.',
  description: [
    'A model call in Anthropic’s Messages format, for every model. The key is sent as `x-api-key` or as `Authorization: Bearer`.',
    'With `stream` the response is a stream of events from `message_start` to `message_stop`; an error after the start is an event',
    '`error`. Answers contain nothing that the format lacks: provider and dropped members are in headers, the cost of a stream at',
    '`GET /v1/usage/{request_id}`. `anthropic-version` and `anthropic-beta` are passed on to providers that speak this format.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  payable: true,
  headers: CallHeaders,
  body: CreateMessageBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: Message,
  stream: { event: MessageEvent, done: false, always: false, heartbeat: messagePing },
  responseHeaders: { ...modelCallHeaders, ...requestId, ...idempotencyHeaders },
  errors: modelCallErrors,
});

export const countMessageTokens = endpoint({
  id: 'countMessageTokens',
  method: 'POST',
  path: '/v1/messages/count_tokens',
  summary: 'Count the tokens of a message.',
  description:
    'The number of input tokens of a call in the Messages format, without making the call. Providers that speak the format count exactly; for others it is an estimate, marked by the header `x-service-estimated`. Free of charge.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  body: CountMessageTokensBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: Type.Object({ input_tokens: Count }),
  responseHeaders: {
    ...requestId,
    'x-service-estimated': '`true` if the number is an estimate of the gateway.',
  },
  errors: modelCallErrors,
});
