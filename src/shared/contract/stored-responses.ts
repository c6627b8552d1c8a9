import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ResponseEvent } from './response-events.ts';
import { ResponseResource } from './response-resource.ts';
import { AnyObject, deleted, listOf, nullable, otherParameters, pageQuery } from './vocabulary.ts';

/** Stored and background responses. Source: the types of the OpenAI SDK. */

const ResponseId = Type.Object({
  id: Type.String({ maxLength: 200, description: 'The id of a stored response: `resp_…`.' }),
});

const byResponsesKey = {
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  params: ResponseId,
} as const;

/** Returns a stored or background response, or the events of the latter. */
export const getResponse = endpoint({
  id: 'getResponse',
  method: 'GET',
  path: '/v1/responses/{id}',
  summary: 'Get or stream a stored response.',
  description: [
    'With `stream`: the events of a response created with `background` and `stream`, first those after `starting_after`,',
    'then new ones, until the end and `data: [DONE]`. Any number of clients can follow it, repeatedly, while it is',
    'stored. The header `x-stainless-helper-method: stream` omits events that OpenAI does not define. A response that its daemon',
    'could not finish ends with `error` and `response.failed`, a cancelled one with `response.incomplete` whose response',
    'has the status `cancelled`.',
  ].join(' '),
  ...byResponsesKey,
  query: Type.Object(
    {
      stream: Type.Optional(Type.Boolean({ description: 'Whether to stream its events.' })),
      starting_after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'With `stream`: the `sequence_number` of the last event received; default: all events.',
        }),
      ),
    },
    otherParameters,
  ),
  result: ResponseResource,
  stream: { event: ResponseEvent, done: true, always: false },
});

export const deleteResponse = endpoint({
  id: 'deleteResponse',
  method: 'DELETE',
  path: '/v1/responses/{id}',
  summary: 'Delete a stored response.',
  description: 'A background response in progress is cancelled first.',
  ...byResponsesKey,
  result: deleted('response'),
});

export const cancelResponse = endpoint({
  id: 'cancelResponse',
  method: 'POST',
  path: '/v1/responses/{id}/cancel',
  summary: 'Cancel a background response.',
  description:
    'Returns the response in its final state: `cancelled`, with the output generated and charged so far, or unchanged if it had already ended. Only responses created with `background` can be cancelled.',
  ...byResponsesKey,
  result: ResponseResource,
});

export const listInputItems = endpoint({
  id: 'listInputItems',
  method: 'GET',
  path: '/v1/responses/{id}/input_items',
  summary: 'List the input of a stored response.',
  description:
    'The items of that call, without those of the responses it continued, in the format of the OpenAI API.',
  ...byResponsesKey,
  query: Type.Object(
    {
      order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Default: `desc`, newest first.' })),
      after: Type.Optional(
        Type.String({ maxLength: 200, description: 'The `last_id` of the previous page.' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 20.' })),
    },
    otherParameters,
  ),
  result: Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(AnyObject),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  }),
});

/** A summary of a stored response. */
export const ListedResponse = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    status: Type.String({
      description: '`queued`, `in_progress`, `completed`, `incomplete`, `failed` or `cancelled`.',
    }),
    model: Type.String(),
    background: Type.Boolean(),
  },
  { $id: 'ListedResponse', description: 'A summary of a stored response.' },
);

export type ListedResponse = Static<typeof ListedResponse>;

export const listResponses = endpoint({
  id: 'listResponses',
  method: 'GET',
  path: '/v1/stored-responses',
  summary: 'List stored responses.',
  description: 'Newest first, including background responses in progress.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  query: Type.Object(pageQuery('resp')),
  result: listOf(ListedResponse),
});
