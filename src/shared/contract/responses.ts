import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ServiceAnswer, ServiceMember } from './service-member.ts';

/**
 * The Responses format. Source: the Open Responses specification, version 2026-04-24, and the types of the OpenAI SDK.
 * Objects stay open: clients send, and providers answer with, members that are not listed here.
 */

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema));
const Open = Type.Record(Type.String(), Type.Unknown());

/** A part of a message or of a tool's output; `type` decides which other members count. */
export const InputPart = Type.Object(
  {
    type: Type.String({ description: 'input_text, output_text, refusal, input_image, input_file, …' }),
    text: Type.Optional(Type.String()),
    refusal: Type.Optional(Type.String()),
    image_url: maybe(Type.String({ description: 'http(s) or data URL' })),
    detail: maybe(Type.String()),
    filename: maybe(Type.String()),
    file_data: maybe(Type.String()),
    file_url: maybe(Type.String()),
  },
  { additionalProperties: true },
);

/** One item of the input; `type` decides which other members count, and a `role` alone makes a message. */
export const InputItem = Type.Object(
  {
    type: maybe(
      Type.String({
        description: 'message, function_call, function_call_output, reasoning, compaction, item_reference, …',
      }),
    ),
    id: maybe(Type.String({ maxLength: 200 })),
    role: Type.Optional(Type.String({ description: 'user, system, developer or assistant' })),
    content: maybe(Type.Union([Type.String(), Type.Array(InputPart)])),
    status: maybe(Type.String()),
    call_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    name: Type.Optional(Type.String()),
    arguments: Type.Optional(Type.String()),
    output: Type.Optional(Type.Unknown()),
    summary: maybe(Type.Array(Open)),
    encrypted_content: maybe(Type.String({ maxLength: 10_485_760 })),
  },
  { additionalProperties: true },
);

export const FunctionTool = Type.Object(
  {
    type: Type.String({ description: 'function; other types reach only providers that know them' }),
    name: Type.Optional(Type.String()),
    description: maybe(Type.String()),
    parameters: maybe(Open),
    strict: maybe(Type.Boolean()),
  },
  { additionalProperties: true },
);

/** The body of a create call. */
export const CreateResponseBody = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200 }),
    input: Type.Optional(Type.Union([Type.String(), Type.Array(InputItem)])),
    instructions: maybe(Type.String()),
    previous_response_id: maybe(Type.String({ maxLength: 200 })),
    include: maybe(Type.Array(Type.String())),
    tools: maybe(Type.Array(FunctionTool)),
    tool_choice: maybe(Type.Union([Type.String(), Open])),
    parallel_tool_calls: maybe(Type.Boolean()),
    max_output_tokens: maybe(Type.Integer({ minimum: 1 })),
    max_tool_calls: maybe(Type.Integer({ minimum: 1 })),
    metadata: maybe(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 16 })),
    text: maybe(Open),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    top_logprobs: maybe(Type.Integer({ minimum: 0, maximum: 20 })),
    reasoning: maybe(
      Type.Object(
        { effort: maybe(Type.String()), summary: maybe(Type.String()) },
        { additionalProperties: true },
      ),
    ),
    stream: maybe(Type.Boolean()),
    stream_options: maybe(Open),
    store: maybe(Type.Boolean()),
    background: maybe(Type.Boolean()),
    conversation: maybe(Type.Union([Type.String(), Open])),
    prompt: maybe(Open),
    truncation: maybe(Type.String()),
    service_tier: maybe(Type.String()),
    safety_identifier: maybe(Type.String({ maxLength: 64 })),
    prompt_cache_key: maybe(Type.String({ maxLength: 64 })),
    service: Type.Optional(ServiceMember),
  },
  { additionalProperties: true },
);

export type CreateResponseBody = Static<typeof CreateResponseBody>;

const number = Type.Number();

/** The response object; every member is always present. */
export const ResponseResource = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds' }),
    completed_at: nullable(Type.Integer({ description: 'Unix seconds' })),
    status: Type.String({ description: 'queued, in_progress, completed, failed, incomplete or cancelled' }),
    incomplete_details: nullable(Type.Object({ reason: Type.String() })),
    model: Type.String(),
    previous_response_id: nullable(Type.String()),
    instructions: nullable(Type.String()),
    output: Type.Array(Open),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    tools: Type.Array(Open),
    tool_choice: Type.Union([Type.String(), Open]),
    truncation: Type.String(),
    parallel_tool_calls: Type.Boolean(),
    text: Open,
    top_p: number,
    presence_penalty: number,
    frequency_penalty: number,
    top_logprobs: Type.Integer(),
    temperature: number,
    reasoning: nullable(Open),
    usage: nullable(Open),
    max_output_tokens: nullable(Type.Integer()),
    max_tool_calls: nullable(Type.Integer()),
    store: Type.Boolean(),
    background: Type.Boolean(),
    service_tier: Type.String(),
    metadata: Open,
    safety_identifier: nullable(Type.String()),
    prompt_cache_key: nullable(Type.String()),
    service: Type.Optional(ServiceAnswer),
  },
  { additionalProperties: true },
);

export type ResponseResource = Static<typeof ResponseResource>;

/** One event of a stream: `type` names it, `sequence_number` rises from 0. */
export const ResponseEvent = Type.Object(
  { type: Type.String(), sequence_number: Type.Integer() },
  { additionalProperties: true },
);

/** What a model call may be answered with, in either format. */
export const modelCallErrors = [
  'invalid_request',
  'invalid_json',
  'unknown_call_id',
  'context_length_exceeded',
  'unsupported_value',
  'unauthenticated',
  'insufficient_balance',
  'out_of_scope',
  'limit_reached',
  'model_not_found',
  'limit_exceeded',
  'rate_limited',
  'server_error',
  'model_error',
  'upstream_failed',
  'no_route',
  'unavailable',
] as const;

/** Model calls carry images and long agent histories. */
export const modelCallBodyLimit = 32 * 1024 * 1024;

/** Headers of a successful model call. */
export const modelCallHeaders = {
  'x-service-model': 'The model that answered.',
  'x-service-upstream': 'The provider that answered.',
  'x-service-cost-usd': 'Cost of the answer in dollars; absent on streams.',
} as const;

/** Answers a model call in the Responses format, whole or as a stream. */
export const createResponse = endpoint({
  id: 'createResponse',
  method: 'POST',
  path: '/v1/responses',
  summary: 'Create a model response.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  body: CreateResponseBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: ResponseResource,
  stream: { event: ResponseEvent, done: true, always: false },
  responseHeaders: modelCallHeaders,
  errors: [...modelCallErrors, 'previous_response_not_found'],
});

const ResponseId = Type.Object({ id: Type.String({ maxLength: 200 }) });

/** A response that was created with `store`. */
export const getResponse = endpoint({
  id: 'getResponse',
  method: 'GET',
  path: '/v1/responses/{id}',
  summary: 'Get a stored response.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  params: ResponseId,
  result: ResponseResource,
  errors: ['unauthenticated', 'out_of_scope', 'not_found'],
});

export const deleteResponse = endpoint({
  id: 'deleteResponse',
  method: 'DELETE',
  path: '/v1/responses/{id}',
  summary: 'Delete a stored response.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  params: ResponseId,
  result: Type.Object({ id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) }),
  errors: ['unauthenticated', 'out_of_scope', 'not_found'],
});
