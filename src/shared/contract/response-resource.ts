import { type Static, Type } from 'typebox';
import { ServiceAnswer } from './service-member.ts';
import { AnyObject, Count, nullable } from './vocabulary.ts';

export const ResponseUsage = Type.Object(
  {
    input_tokens: Count,
    input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Type.Optional(Count) }),
    output_tokens: Count,
    output_tokens_details: Type.Object({ reasoning_tokens: Count }),
    total_tokens: Count,
  },
  { $id: 'ResponseUsage', additionalProperties: true },
);

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
        'Items of type `message` (with parts of type `output_text` or `refusal`), `function_call`, `reasoning` or `compaction`, and others as their provider sent them.',
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
      Type.Object({ id: Type.String() }, { description: 'The thread this call is a run of.' }),
    ),
    service: Type.Optional(ServiceAnswer),
  },
  { $id: 'Response', additionalProperties: true },
);

export type ResponseResource = Static<typeof ResponseResource>;
