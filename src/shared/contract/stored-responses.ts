import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { ResponseEvent } from './response-events.ts';
import { ResponseResource } from './responses.ts';
import { AnyObject, deleted, listOf, nullable, pageQuery } from './vocabulary.ts';

/** Responses that are kept, and those that are made in the background. Source: the types of the OpenAI SDK. */

const ResponseId = Type.Object({
  id: Type.String({ maxLength: 200, description: 'The id of a response that was stored: `resp_…`.' }),
});

const byResponsesKey = {
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  params: ResponseId,
} as const;

const readErrors = ['unauthenticated', 'out_of_scope', 'not_found'] as const;

/** A response that was created with `store`, or is being made in the background; or the events of the latter. */
export const getResponse = endpoint({
  id: 'getResponse',
  method: 'GET',
  path: '/v1/responses/{id}',
  summary: 'Get or follow a stored response.',
  description: [
    'With `stream` the events of a response that was created with `background` and `stream`: those after',
    '`starting_after`, then those that come, to the end and `data: [DONE]`. It can be followed by many, again and again,',
    'as long as it is kept. The header `x-stainless-helper-method: stream` leaves the `service:*` events out. A response',
    'that its daemon could not finish ends with `error` and `response.failed`, a cancelled one with',
    '`response.incomplete` whose response has the status `cancelled`.',
  ].join(' '),
  ...byResponsesKey,
  query: Type.Object({
    stream: Type.Optional(Type.Boolean({ description: 'Whether its events are followed.' })),
    starting_after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'With `stream`: the `sequence_number` of the last event that is known; without it, all are sent.',
      }),
    ),
  }),
  result: ResponseResource,
  stream: { event: ResponseEvent, done: true, always: false },
  errors: [...readErrors, 'invalid_request'],
});

export const deleteResponse = endpoint({
  id: 'deleteResponse',
  method: 'DELETE',
  path: '/v1/responses/{id}',
  summary: 'Delete a stored response.',
  description: 'One that is being made in the background is cancelled first.',
  ...byResponsesKey,
  result: deleted('response'),
  errors: readErrors,
});

/** Ends a response that is being made in the background. */
export const cancelResponse = endpoint({
  id: 'cancelResponse',
  method: 'POST',
  path: '/v1/responses/{id}/cancel',
  summary: 'Cancel a background response.',
  description:
    'Resolves to the response as it has ended: `cancelled`, with what was made and is charged, or as it was if it had ended before. Only a response that was created with `background` can be cancelled.',
  ...byResponsesKey,
  result: ResponseResource,
  errors: [...readErrors, 'invalid_request'],
});

/** What a stored response was asked: the items of that call alone, without those that it continued. */
export const listInputItems = endpoint({
  id: 'listInputItems',
  method: 'GET',
  path: '/v1/responses/{id}/input_items',
  summary: 'List the input of a stored response.',
  description:
    'The items of that call alone, without those of the responses that it continued. In the form of the OpenAI API, which clients of this format parse.',
  ...byResponsesKey,
  query: Type.Object({
    order: Type.Optional(
      Type.Enum(['asc', 'desc'], { description: '`desc`, the newest first, unless told.' }),
    ),
    after: Type.Optional(Type.String({ maxLength: 200, description: 'The `last_id` of the page before.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'How many; 20 unless told.' }),
    ),
  }),
  result: Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(AnyObject),
    first_id: nullable(Type.String()),
    last_id: nullable(Type.String()),
    has_more: Type.Boolean(),
  }),
  errors: [...readErrors, 'invalid_request'],
});

/** A stored response in short. */
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
  { $id: 'ListedResponse', description: 'A stored response in short.' },
);

export type ListedResponse = Static<typeof ListedResponse>;

/** What is kept, and what is being made in the background. */
export const listResponses = endpoint({
  id: 'listResponses',
  method: 'GET',
  path: '/v1/stored-responses',
  summary: 'List the stored responses of the workspace.',
  description: 'Newest first, those that are being made in the background too.',
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  query: Type.Object(pageQuery),
  result: listOf(ListedResponse),
  errors: ['unauthenticated', 'out_of_scope', 'invalid_request'],
});
