import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, finishedRequest, nullable, Timestamp, timeRange } from './vocabulary.ts';

/** The most characters of one text in an answer. */
export const contentCharactersMax = 256 * 1024;

export const contentParts = ['request', 'attempts', 'answer', 'timing'] as const;

const Header = Type.Object({ name: Type.String(), value: Type.String() });
const Headers = (description: string) =>
  Type.Array(Header, {
    description: `${description} Those whose values are not known to be harmless are left out; of credentials, only the name is kept.`,
  });

/** A text as it was sent or received, or a page of it. */
export const ContentText = Type.Object(
  {
    bytes: Type.Integer({ minimum: 0, description: 'Of the whole text.' }),
    text: Type.String(),
    next: nullable(
      Type.Integer({ minimum: 0, description: '`at` of the next page; null if there is none.' }),
    ),
    is_partial: Type.Boolean({
      description: 'Whether parts are missing, as the call that introduced them was deleted.',
    }),
  },
  { $id: 'ContentText' },
);

/** What was asked and answered in a call, on both sides of the gateway. */
export const TraceContent = Type.Object(
  {
    object: Type.Literal('trace.content'),
    request_id: Type.String(),
    endpoint: Type.String(),
    key: nullable(Type.String({ description: 'The id of the calling key or login.' })),
    captured_at: Timestamp,
    level: Type.Enum(['memory'], { description: 'Where it is kept.' }),
    is_complete: Type.Boolean({ description: 'Whether the call is over.' }),
    request: nullable(
      Type.Object({
        headers: Headers('Of the request.'),
        body: nullable(ContentText),
      }),
    ),
    attempts: nullable(
      Type.Array(
        Type.Object({
          provider: Type.String(),
          url: Type.String(),
          headers: Headers('As they were sent.'),
          body: nullable(ContentText),
          status: nullable(Type.Integer({ description: 'Null without a response.' })),
          response_headers: Headers('Of the response.'),
          response_body: nullable(ContentText),
        }),
        { description: 'The requests to providers, in their order. `response_body` is that of an error.' },
      ),
    ),
    answer: nullable(
      Type.Object({
        streamed: Type.Boolean({ description: 'Whether it was a stream, whose events are assembled here.' }),
        is_cut: Type.Boolean({ description: 'Whether it was longer than what is kept.' }),
        body: nullable(ContentText),
      }),
    ),
    reads: nullable(
      Type.Array(
        Type.Object({
          ms: Type.Number({ minimum: 0, description: 'Milliseconds since the request arrived.' }),
          bytes: Count,
          characters: Type.Integer({ minimum: 0, description: 'Of the text of the answer.' }),
        }),
        { description: 'How a stream came from its provider, one read after another.' },
      ),
    ),
  },
  {
    $id: 'TraceContent',
    description: 'Members are null where another part was asked for, or nothing was captured.',
  },
);

const readers = { apiKey: 'content:read', login: 'any' } as const;

export const getTraceContent = endpoint({
  id: 'getTraceContent',
  method: 'GET',
  path: '/v1/traces/{request_id}/content',
  summary: 'Get what a request asked and was answered.',
  description:
    'The request, what was sent to each provider, the answer and the timing of its stream, without credentials. `capture.content` of the configuration decides what is kept; a request with `x-service-capture: off` is never kept. Only callers of the same workspace can read it.',
  tag: 'Traces',
  access: readers,
  params: finishedRequest,
  query: Type.Object({
    part: Type.Optional(Type.Enum([...contentParts], { description: 'Only this part; default: all.' })),
    at: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'Texts start at this character.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: contentCharactersMax,
        default: contentCharactersMax,
        description: 'The most characters of a text.',
      }),
    ),
  }),
  result: TraceContent,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request', 'unavailable'],
});

export const deleteTraceContent = endpoint({
  id: 'deleteTraceContent',
  method: 'DELETE',
  path: '/v1/traces/{request_id}/content',
  summary: 'Delete what a request asked and was answered.',
  description:
    'Its trace stays. What the request introduced also disappears from later requests that repeat it.',
  tag: 'Traces',
  access: { login: 'any', loginOnly: true },
  params: finishedRequest,
  result: Type.Object({ object: Type.Literal('trace.content.deleted'), deleted: Count }),
  errors: ['unauthenticated', 'signed_out', 'not_found', 'invalid_request', 'unavailable'],
});

export const clearTraceContent = endpoint({
  id: 'clearTraceContent',
  method: 'DELETE',
  path: '/v1/traces/content',
  summary: 'Delete what requests asked and were answered.',
  description: 'Of all requests of the workspace that match. Their traces stay.',
  tag: 'Traces',
  access: { login: 'any', loginOnly: true },
  query: Type.Object({
    key: Type.Optional(Type.String({ maxLength: 64, description: 'Only requests of this key.' })),
    until: timeRange.until,
  }),
  result: Type.Object({ object: Type.Literal('trace.content.deleted'), deleted: Count }),
  errors: ['unauthenticated', 'signed_out', 'invalid_request', 'unavailable'],
});

export const searchTraceContent = endpoint({
  id: 'searchTraceContent',
  method: 'GET',
  path: '/v1/traces/search',
  summary: 'Search in what requests asked and were answered.',
  description:
    'Finds a text in any language, whatever its case, in the newest requests first. Each call searches for about 50 ms; `next` is `after` of the next one, until it is null. What later requests repeat is found in the one that introduced it.',
  tag: 'Traces',
  access: readers,
  query: Type.Object({
    text: Type.String({ minLength: 1, maxLength: 200, description: 'What to find.' }),
    key: Type.Optional(Type.String({ maxLength: 64, description: 'Only requests of this key.' })),
    after: Type.Optional(Type.String({ maxLength: 64, description: '`next` of the call before.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'The most matches.' }),
    ),
    ...timeRange,
  }),
  result: Type.Object(
    {
      object: Type.Literal('trace.matches'),
      matches: Type.Array(
        Type.Object({
          request_id: Type.String(),
          captured_at: Timestamp,
          part: Type.Enum(['request', 'attempt', 'answer']),
          snippet: Type.String({ description: 'The match with what is around it.' }),
          start: Type.Integer({ minimum: 0, description: 'Where the match starts in the snippet.' }),
          end: Type.Integer({ minimum: 0, description: 'Where it ends.' }),
        }),
      ),
      scanned: Type.Integer({ minimum: 0, description: 'Requests that this call has searched.' }),
      next: nullable(Type.String()),
    },
    { $id: 'TraceMatches' },
  ),
  errors: ['unauthenticated', 'out_of_scope', 'invalid_request', 'unavailable'],
});

export const getCapture = endpoint({
  id: 'getCapture',
  method: 'GET',
  path: '/v1/capture',
  summary: 'Show how much of the content of requests is kept.',
  tag: 'Traces',
  access: readers,
  result: Type.Object(
    {
      object: Type.Literal('capture'),
      content: Type.Enum(['off', 'memory'], { description: '`capture.content` of the configuration.' }),
      memory_bytes_max: Count,
      requests: Type.Integer({ minimum: 0, description: 'Of this workspace whose content is kept.' }),
      bytes: Type.Integer({ minimum: 0, description: 'What the content of all workspaces takes.' }),
      oldest_at: nullable(Timestamp),
      dropped: Type.Integer({
        minimum: 0,
        description:
          'Pieces of content since the start that were not kept, as more came than could be stored.',
      }),
    },
    { $id: 'Capture' },
  ),
  errors: ['unauthenticated', 'out_of_scope', 'unavailable'],
});

export type TraceContent = Static<typeof TraceContent>;
export type ContentText = Static<typeof ContentText>;
