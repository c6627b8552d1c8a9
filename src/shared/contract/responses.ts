import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  CallHeaders,
  idempotencyHeaders,
  ModelName,
  modelCallBodyLimit,
  modelCallErrors,
  modelCallHeaders,
} from './model-call.ts';
import { ResponseEvent } from './response-events.ts';
import { ResponseResource } from './response-resource.ts';
import { ServiceMember } from './service-member.ts';
import { AnyObject, callIdCharactersMax, ifType, mapOf, maybe, nullable } from './vocabulary.ts';

/** `tool_choice`: a mode, or an object, which is checked where it is read. */
export const ToolChoice = Type.Union(
  [Type.String(), Type.Object({ type: Type.String() }, { additionalProperties: true })],
  { description: '`none`, `auto`, `required`, or an object that names tools.' },
);

const ThreadId = Type.String({ minLength: 1, maxLength: 64 });

/** Strings that are stored with a response, and returned with it. */
const Metadata = mapOf({ maxLength: 64 }, Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  description: 'At most 16 strings of at most 512 characters, by keys of at most 64. Returned unchanged.',
});

/** What describes answers by a JSON schema, in the formats of OpenAI. It is checked where it is read. */
export const namedSchema = {
  name: maybe(Type.String()),
  description: maybe(Type.String()),
  schema: maybe(AnyObject),
  strict: maybe(Type.Boolean()),
};

export const OutputType = Type.String({ description: '`text`, `json_object` or `json_schema`.' });

/** `text.format`. */
const OutputFormat = Type.Object(
  { type: Type.Optional(OutputType), ...namedSchema },
  { additionalProperties: true },
);

/** A call needs something to answer. A previous response or a stored prompt may be all there is. */
export const somethingToAnswer = {
  anyOf: [
    { required: ['input'] },
    {
      required: ['previous_response_id'],
      properties: { previous_response_id: { type: 'string', minLength: 1 } },
    },
    { required: ['prompt'], properties: { prompt: { type: 'object' } } },
  ],
};

/**
 * The Responses format. Source: the Open Responses specification, version 2026-04-24, and the types of the OpenAI SDK.
 * Additional members and values are allowed: clients and providers send some that are not listed here. Those that the gateway
 * does not know go to providers with this format.
 */

/** The name of a function or custom tool. */
export const ToolName = Type.String({
  pattern: '^[a-zA-Z0-9_-]{1,128}$',
  description: '1 to 128 of the characters a-z, A-Z, 0-9, _ and -.',
});

const CallId = Type.String({ minLength: 1, maxLength: callIdCharactersMax });
const SealedContent = Type.String({ maxLength: 10_485_760 });

/** What items must have by their type, of which no other is checked. An item without one is a message. */
export const itemRules = () => [
  {
    if: { properties: { type: { enum: ['message', null] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: {
      required: ['role', 'content'],
      properties: {
        role: { type: 'string' },
        content: nullable(Type.Union([Type.String(), Type.Array(InputPart)])),
      },
    },
  },
  ifType(
    ['function_call', 'custom_tool_call'],
    Type.Object({ call_id: CallId, name: Type.String(), namespace: maybe(Type.String()) }),
  ),
  ifType(['function_call'], Type.Object({ arguments: maybe(Type.Union([Type.String(), AnyObject])) })),
  ifType(['custom_tool_call'], Type.Object({ input: Type.String() })),
  ifType(
    ['function_call_output', 'custom_tool_call_output'],
    Type.Object({ call_id: maybe(CallId), output: Type.Unknown() }),
  ),
  ifType(
    ['reasoning'],
    Type.Object({ summary: maybe(Type.Array(AnyObject)), encrypted_content: maybe(SealedContent) }),
  ),
  ifType(['compaction'], Type.Object({ encrypted_content: SealedContent })),
];

/** A member that some types of items or parts have. It is checked where it is read. */
function member(description?: string) {
  return Type.Optional(Type.Unknown(description === undefined ? {} : { description }));
}

/** A part of a message or of a tool's output; `type` decides which other members apply. */
export const InputPart = Type.Object(
  {
    type: Type.String({
      description: '`input_text`, `output_text`, `refusal`, `input_image`, `input_file` or `input_audio`.',
    }),
    text: member(),
    refusal: member(),
    image_url: member('An http(s) or data URL.'),
    detail: member(),
    filename: member(),
    file_data: member('A data URL.'),
    file_url: member(),
    file_id: member('A file that was uploaded to the provider; the model must be pinned to it.'),
  },
  {
    $id: 'InputPart',
    additionalProperties: true,
    description: 'A part of a message or of a tool’s output; `type` decides which other members apply.',
  },
);

/** An input item; `type` decides which other members apply, and a `role` alone makes it a message. */
export const InputItem = Type.Object(
  {
    type: maybe(
      Type.String({
        description:
          '`message`, `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, `compaction`, `compaction_trigger`, `item_reference`, or a type that only some providers have.',
      }),
    ),
    id: member('The id of the item: a string.'),
    role: member('`user`, `system`, `developer` or `assistant`.'),
    content: member('A string, or a list of parts.'),
    status: member(),
    call_id: member(`The id of the call: 1 to ${callIdCharactersMax} characters.`),
    name: member(),
    namespace: member('The namespace of the tool, such as an MCP server.'),
    input: member('The input of a custom tool: text.'),
    arguments: member('The arguments of a function: JSON text, or an object.'),
    output: member('The output of a tool: text, or a list of parts.'),
    summary: member(),
    encrypted_content: member(
      'Sealed reasoning, or a sealed summary (`compaction`): text; send it back unchanged.',
    ),
  },
  {
    $id: 'InputItem',
    allOf: itemRules(),
    additionalProperties: true,
    description:
      'An input item; `type` decides which other members apply, and a `role` alone makes it a message.',
  },
);

/** What defines a function or custom tool, in the formats of OpenAI. */
export const toolDefinition = {
  name: ToolName,
  description: maybe(Type.String()),
  parameters: maybe(AnyObject),
  strict: maybe(Type.Boolean()),
};

/** A definition in a member of this name, as the chat format has it, or one without; `isNested` is the form of a tool with neither. */
export function definedOrIn(member: string, { isNested }: { isNested: boolean }) {
  const own = { required: ['name'], properties: toolDefinition };
  const nested = { required: [member], properties: { [member]: Type.Object(toolDefinition) } };
  return isNested
    ? // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      { if: hasMember('name', 'string'), then: own, else: nested }
    : // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      { if: hasMember(member, 'object'), then: nested, else: own };
}

/** Some SDKs write null for a member that is absent. */
const hasMember = (member: string, type: string) => ({
  required: [member],
  properties: { [member]: { type } },
});

export const FunctionTool = Type.Object(
  {
    type: Type.String({
      description:
        '`function`, `custom` (takes text) or `namespace` (a group of both, in `tools`), which work with every provider; other types are passed to providers that support them, and dropped for others.',
    }),
    name: Type.Optional(Type.String({ description: 'Required for these types.' })),
    description: maybe(Type.String()),
    parameters: maybe(
      Type.Record(Type.String(), Type.Unknown(), { description: 'A JSON schema of the arguments.' }),
    ),
    strict: maybe(Type.Boolean()),
  },
  {
    $id: 'Tool',
    allOf: [
      ifType(['function'], definedOrIn('function', { isNested: false })),
      ifType(['custom'], definedOrIn('custom', { isNested: false })),
      ifType(['namespace'], { required: ['name'], properties: { name: { type: 'string', minLength: 1 } } }),
    ],
    additionalProperties: true,
  },
);

export const CreateResponseBody = Type.Object(
  {
    model: ModelName,
    input: Type.Optional(
      Type.Union([Type.String(), Type.Array(InputItem)], {
        description:
          'A string is one user message. Required unless `previous_response_id` or `prompt` is sent.',
      }),
    ),
    instructions: maybe(Type.String()),
    previous_response_id: maybe(
      Type.String({ maxLength: 200, description: 'The stored response to continue.' }),
    ),
    include: maybe(
      Type.Array(Type.String(), {
        description: '`reasoning.encrypted_content` or `message.output_text.logprobs`; others are passed on.',
      }),
    ),
    tools: maybe(Type.Array(FunctionTool)),
    tool_choice: maybe(ToolChoice),
    parallel_tool_calls: maybe(Type.Boolean()),
    max_output_tokens: maybe(
      Type.Integer({ minimum: 1, description: 'Maximum number of output tokens, including reasoning.' }),
    ),
    max_tool_calls: maybe(Type.Integer({ minimum: 1 })),
    metadata: maybe(Metadata),
    text: maybe(
      Type.Object(
        { format: maybe(OutputFormat), verbosity: maybe(Type.String()) },
        { additionalProperties: true },
      ),
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
    stream: maybe(Type.Boolean({ description: 'Whether to stream the answer as server-sent events.' })),
    stream_options: maybe(AnyObject),
    store: maybe(
      Type.Boolean({
        description:
          'Whether the response is stored for later use; default true unless the key or the host says otherwise.',
      }),
    ),
    background: maybe(
      Type.Boolean({
        description: 'Whether to return immediately and generate the response in the background.',
      }),
    ),
    background_options: maybe(
      Type.Object(
        {
          completion_window: maybe(
            Type.Literal('soonest', {
              description:
                'The gateway generates background responses itself, immediately and at the usual price, so no later window can be chosen.',
            }),
          ),
        },
        { additionalProperties: true },
      ),
    ),
    conversation: maybe(
      Type.Union([ThreadId, Type.Object({ id: ThreadId }, { additionalProperties: true })], {
        description: 'Same as `service.thread`.',
      }),
    ),
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
            'With type `compaction`, an input that exceeds the threshold is summarised first; the summary is the first item of `output`.',
        },
      ),
    ),
    prompt: maybe(AnyObject),
    truncation: maybe(
      Type.String({
        description:
          '`auto` or `disabled`. `auto` needs a provider that truncates, unless the input certainly fits; the gateway itself never truncates.',
      }),
    ),
    service_tier: maybe(Type.String()),
    safety_identifier: maybe(Type.String({ maxLength: 64 })),
    prompt_cache_key: maybe(Type.String({ maxLength: 64 })),
    service: maybe(ServiceMember),
  },
  {
    $id: 'CreateResponse',
    ...somethingToAnswer,
    additionalProperties: true,
    description: 'Additional members are passed on to providers that speak this format.',
  },
);

/** What a client sends: a body that may leave out the model. */
export const CreateResponseRequest = Type.Object(
  {
    ...CreateResponseBody.properties,
    model: maybe(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'As in other calls; required unless the configuration has a `default_model`.',
      }),
    ),
  },
  {
    $id: 'CreateResponseRequest',
    ...somethingToAnswer,
    additionalProperties: true,
    description: 'Additional members are passed on to providers that speak this format.',
  },
);

export type CreateResponseBody = Static<typeof CreateResponseBody>;

export const createResponse = endpoint({
  id: 'createResponse',
  method: 'POST',
  path: '/v1/responses',
  summary: 'Create a response.',
  description: [
    'A model call in the Responses format. With `stream` the response is a stream of server-sent events:',
    '`response.created`, `service:route` (the selected route), `response.in_progress`, deltas, `service:cost`, and one of',
    '`response.completed`, `response.incomplete` and `response.failed`; then `data: [DONE]`. An error after the start is',
    'sent as `error` and `response.failed`. `service.events: false` omits the `service:*` events; the header',
    '`x-stainless-helper-method: stream` omits all events that OpenAI does not define. With `background` the call immediately returns the queued response, which can',
    'be read, followed and cancelled by its id; combined with `stream`, it returns a stream that can be resumed with',
    '`GET /v1/responses/{id}?stream=true&starting_after=N`. Background responses are stored, so `store` cannot be false;',
    'at most 256 run at a time by default, and those a stopping daemon cannot finish fail.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  payable: true,
  headers: CallHeaders,
  body: CreateResponseRequest,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: ResponseResource,
  stream: { event: ResponseEvent, done: true, always: false },
  responseHeaders: { ...modelCallHeaders, ...idempotencyHeaders },
  errors: [...modelCallErrors, 'previous_response_not_found'],
});
