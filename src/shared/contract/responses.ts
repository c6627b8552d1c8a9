import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  createCallErrors,
  idempotencyHeaders,
  ModelName,
  modelCallBodyLimit,
  modelCallHeaders,
  OnceHeaders,
} from './model-call.ts';
import { ResponseEvent, ResponseUsage } from './response-events.ts';
import { ServiceAnswer, ServiceMember } from './service-member.ts';
import { AnyObject, maybe, nullable } from './vocabulary.ts';

/**
 * The Responses format. Source: the Open Responses specification, version 2026-04-24, and the types of the OpenAI SDK.
 * Objects stay open: clients send, and providers answer with, members that are not listed here.
 */

/** A part of a message or of a tool's output; `type` decides which other members count. */
export const InputPart = Type.Object(
  {
    type: Type.String({
      description: '`input_text`, `output_text`, `refusal`, `input_image`, `input_file` or `input_audio`.',
    }),
    text: maybe(Type.String()),
    refusal: maybe(Type.String()),
    image_url: maybe(Type.String({ description: 'An http(s) or data URL.' })),
    detail: maybe(Type.String()),
    filename: maybe(Type.String()),
    file_data: maybe(Type.String({ description: 'A data URL.' })),
    file_url: maybe(Type.String()),
  },
  {
    $id: 'InputPart',
    additionalProperties: true,
    description: 'A part of a message or of a tool’s output; `type` decides which other members count.',
  },
);

/** One item of the input; `type` decides which other members count, and a `role` alone makes a message. */
export const InputItem = Type.Object(
  {
    type: maybe(
      Type.String({
        description:
          '`message`, `function_call`, `function_call_output`, `reasoning`, `compaction`, `compaction_trigger` or `item_reference`; others reach only providers that know them.',
      }),
    ),
    id: maybe(Type.String({ maxLength: 200 })),
    role: Type.Optional(Type.String({ description: '`user`, `system`, `developer` or `assistant`.' })),
    content: maybe(Type.Union([Type.String(), Type.Array(InputPart)])),
    status: maybe(Type.String()),
    call_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    name: Type.Optional(Type.String()),
    arguments: Type.Optional(Type.String({ description: 'JSON.' })),
    output: Type.Optional(Type.Unknown({ description: 'What a tool returned: text, or a list of parts.' })),
    summary: maybe(Type.Array(AnyObject)),
    encrypted_content: maybe(
      Type.String({
        maxLength: 10_485_760,
        description: 'Reasoning, or a summary (`compaction`), as it was sealed here; send it back unchanged.',
      }),
    ),
  },
  {
    $id: 'InputItem',
    additionalProperties: true,
    description:
      'One item of the input; `type` decides which other members count, and a `role` alone makes a message.',
  },
);

export const FunctionTool = Type.Object(
  {
    type: Type.String({ description: '`function`; other types reach only providers that know them.' }),
    name: Type.Optional(Type.String({ description: '1 to 128 of the characters a-z, A-Z, 0-9, _ and -.' })),
    description: maybe(Type.String()),
    parameters: maybe(
      Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON schema of the arguments.' }),
    ),
    strict: maybe(Type.Boolean()),
  },
  { $id: 'Tool', additionalProperties: true },
);

/** The body of a create call. */
export const CreateResponseBody = Type.Object(
  {
    model: ModelName,
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(InputItem)], {
        description:
          'A text is one message of the user. Needed unless `previous_response_id` or `prompt` is sent.',
      }),
    ),
    instructions: maybe(Type.String()),
    previous_response_id: maybe(
      Type.String({ maxLength: 200, description: 'The stored response that this one continues.' }),
    ),
    include: maybe(
      Type.Array(Type.String(), {
        description: '`reasoning.encrypted_content` or `message.output_text.logprobs`; others are passed on.',
      }),
    ),
    tools: maybe(Type.Array(FunctionTool)),
    tool_choice: maybe(
      Type.Union([Type.String(), AnyObject], {
        description: '`none`, `auto`, `required`, or an object that names tools.',
      }),
    ),
    parallel_tool_calls: maybe(Type.Boolean()),
    max_output_tokens: maybe(
      Type.Integer({ minimum: 1, description: 'The most tokens of the answer, reasoning included.' }),
    ),
    max_tool_calls: maybe(Type.Integer({ minimum: 1 })),
    metadata: maybe(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 16,
        description: 'Returned as it was sent.',
      }),
    ),
    text: maybe(
      Type.Record(Type.String(), Type.Unknown(), {
        description: '`format` (`text`, `json_object` or `json_schema`) and `verbosity`.',
      }),
    ),
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
    stream: maybe(Type.Boolean({ description: 'Whether the answer comes as server-sent events.' })),
    stream_options: maybe(AnyObject),
    store: maybe(
      Type.Boolean({
        description: 'Whether it can be read and continued later; true unless key or host differ.',
      }),
    ),
    background: maybe(
      Type.Boolean({
        description: 'Whether the call answers at once and the response is made without its caller.',
      }),
    ),
    conversation: maybe(Type.Union([Type.String(), AnyObject], { description: 'As `service.thread`.' })),
    context_management: maybe(
      Type.Array(
        Type.Object(
          {
            type: Type.String(),
            compact_threshold: maybe(Type.Integer({ minimum: 1, description: 'In tokens.' })),
          },
          { additionalProperties: true },
        ),
        {
          description:
            'With the type `compaction`, an input of more tokens than the threshold is summed up before it is answered; the summary is the first item of `output`.',
        },
      ),
    ),
    prompt: maybe(AnyObject),
    truncation: maybe(
      Type.Enum(['auto', 'disabled'], { description: 'Passed on; nothing of the input is left out here.' }),
    ),
    service_tier: maybe(Type.String()),
    safety_identifier: maybe(Type.String({ maxLength: 64 })),
    prompt_cache_key: maybe(Type.String({ maxLength: 64 })),
    service: Type.Optional(ServiceMember),
  },
  {
    $id: 'CreateResponse',
    additionalProperties: true,
    description: 'Members that are not listed are passed on to providers that speak this format.',
  },
);

export type CreateResponseBody = Static<typeof CreateResponseBody>;

const number = Type.Number();

/** The response object; every member is always present. */
export const ResponseResource = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    completed_at: nullable(Type.Integer({ description: 'Unix seconds.' })),
    status: Type.String({
      description: '`queued`, `in_progress`, `completed`, `incomplete`, `failed` or `cancelled`.',
    }),
    incomplete_details: nullable(Type.Object({ reason: Type.String() })),
    model: Type.String(),
    previous_response_id: nullable(Type.String()),
    instructions: nullable(Type.String()),
    output: Type.Array(AnyObject, {
      description:
        'Items of the type `message` (its `content` has parts of the type `output_text` or `refusal`), `function_call`, `reasoning` or `compaction`, and others as their provider made them.',
    }),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    tools: Type.Array(AnyObject),
    tool_choice: Type.Union([Type.String(), AnyObject]),
    truncation: Type.String(),
    parallel_tool_calls: Type.Boolean(),
    text: AnyObject,
    top_p: number,
    presence_penalty: number,
    frequency_penalty: number,
    top_logprobs: Type.Integer(),
    temperature: number,
    reasoning: nullable(AnyObject),
    usage: nullable(ResponseUsage),
    max_output_tokens: nullable(Type.Integer()),
    max_tool_calls: nullable(Type.Integer()),
    store: Type.Boolean(),
    background: Type.Boolean(),
    service_tier: Type.String(),
    metadata: AnyObject,
    safety_identifier: nullable(Type.String()),
    prompt_cache_key: nullable(Type.String()),
    conversation: Type.Optional(
      Type.Object({ id: Type.String() }, { description: 'The thread that the call is a run of.' }),
    ),
    service: Type.Optional(ServiceAnswer),
  },
  { $id: 'Response', additionalProperties: true },
);

export type ResponseResource = Static<typeof ResponseResource>;

/** Answers a model call in the Responses format, whole or as a stream. */
export const createResponse = endpoint({
  id: 'createResponse',
  method: 'POST',
  path: '/v1/responses',
  summary: 'Create a response.',
  description: [
    'A model call in the Responses format. With `stream` the answer is a stream of server-sent events:',
    '`response.created`, `service:route` (who answers), `response.in_progress`, deltas, `service:cost` (what it cost),',
    'and one of `response.completed`, `response.incomplete` and `response.failed`; then `data: [DONE]`. A failure',
    'after the start is told by `error` and `response.failed`. `service.events: false` leaves the `service:*` events',
    'out, and so does the header `x-stainless-helper-method: stream`. With `background` the answer is at once the queued',
    'response, which is read, followed and cancelled by its id; with `stream` too, it is a stream that can be left and',
    'resumed by `GET /v1/responses/{id}?stream=true&starting_after=N`. It is stored, so `store` cannot be false; 256 are',
    'made at once unless the host sets another bound, and a daemon that ends tells those it could not finish as failed.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  headers: OnceHeaders,
  body: CreateResponseBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: ResponseResource,
  stream: { event: ResponseEvent, done: true, always: false },
  responseHeaders: { ...modelCallHeaders, ...idempotencyHeaders },
  errors: [...createCallErrors, 'previous_response_not_found'],
});
