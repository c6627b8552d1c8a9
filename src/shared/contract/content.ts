import { type Static, Type } from 'typebox';
import { partKinds } from '../constants/part-kinds.ts';
import { clearedStores, stayingRecords } from '../constants/text-stores.ts';
import { redactionKinds } from '../masking/redaction-kinds.ts';
import { endpoint } from './endpoint.ts';
import { Count, finishedRequest, nullable, Timestamp, timeRange } from './vocabulary.ts';

/** The most characters of one text in an answer. */
export const contentCharactersMax = 256 * 1024;

export const contentParts = ['request', 'attempts', 'answer', 'timing', 'wire', 'composition'] as const;

/** The longest time for which streams are kept as they are, in minutes. */
const wireMinutesMax = 24 * 60;

/** The most parts of a request in an answer. */
export const requestPartsMax = 2_000;

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
      description:
        'Whether parts are missing or replaced by `[deleted]`, as the call that introduced them was deleted.',
    }),
  },
  { $id: 'ContentText' },
);

const Tokens = Type.Integer({ minimum: 0, description: 'Estimated.' });

/** A part of a request, such as a tool or a message. */
export const RequestPart = Type.Object(
  {
    path: Type.String({ description: '`tools[2]`, `messages[7]`, `messages[7].content[1]`.' }),
    kind: Type.Enum([...partKinds], {
      description:
        '`image`, `audio` and `file` are parts of their own, within another; `parameter` is what models do not read.',
    }),
    role: nullable(Type.String()),
    name: nullable(Type.String({ description: 'Of a tool, or of the function that is called.' })),
    bytes: Count,
    tokens: Tokens,
    hash: Type.String({ description: 'Of equal texts it is the same, in all requests of the workspace.' }),
    at: Type.Integer({
      minimum: 0,
      description: 'Where it starts in the body: `at` and `limit` of `part=request` give its text.',
    }),
    characters: Count,
    first_seen_in: nullable(
      Type.String({
        description:
          'The request that introduced it, of those that are kept. Short parts are kept together with their neighbours, and so may be given a later one.',
      }),
    ),
  },
  { $id: 'RequestPart' },
);

/** What fills the context of a request, and what of it a provider can have cached. */
export const RequestComposition = Type.Object(
  {
    parts: Type.Array(RequestPart, {
      description: `In the order in which models read them: tools, instructions, messages; then parameters. At most ${requestPartsMax}.`,
    }),
    parts_omitted: Count,
    by_kind: Type.Array(
      Type.Object({ kind: Type.Enum([...partKinds]), parts: Count, bytes: Count, tokens: Tokens }),
      { description: 'Of all parts, those with the most tokens first.' },
    ),
    bytes: Count,
    tokens: Tokens,
    previous: nullable(
      Type.Object(
        {
          request_id: Type.String(),
          captured_at: Timestamp,
          unchanged_parts: Count,
          unchanged_bytes: Count,
          unchanged_tokens: Tokens,
          changed_parameters: Type.Array(Type.String()),
          break: nullable(
            Type.Object(
              {
                path: Type.String({ description: '`tools[7].description`, `model`.' }),
                change: Type.Enum(['changed', 'inserted', 'removed']),
                before: Type.String({ description: 'Text around the first difference.' }),
                after: Type.String({ description: 'The same in this request.' }),
              },
              {
                description:
                  'Where the two requests differ first; from there, what the provider had cached is of no use. Null if one continues the other.',
              },
            ),
          ),
        },
        {
          description:
            'Comparison with the request before it in the same conversation: one that was named, or that begins with the same message of the user. Null if none is kept.',
        },
      ),
    ),
  },
  { $id: 'RequestComposition' },
);

/** What was asked and answered in a call, on both sides of the gateway. */
export const TraceContent = Type.Object(
  {
    object: Type.Literal('trace.content'),
    request_id: Type.String(),
    endpoint: Type.String(),
    key: nullable(Type.String({ description: 'The id of the calling key or login.' })),
    captured_at: Timestamp,
    level: Type.Enum(['memory', 'disk'], { description: 'Where it is kept.' }),
    is_complete: Type.Boolean({ description: 'Whether the call is over.' }),
    redacted: Type.Array(Type.Enum([...redactionKinds, 'credential', 'pattern', 'unchecked']), {
      description:
        'What was removed before it was kept: where it was is `[removed]` or `[email removed]`. `pattern`: what the operator’s patterns match; `unchecked`: a text for which they took too long. With any of them, the request cannot be repeated unchanged.',
    }),
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
    wire: nullable(
      Type.Object(
        {
          received: nullable(ContentText),
          sent: nullable(ContentText),
          is_cut: Type.Boolean({ description: 'Whether one of them was longer than what is kept.' }),
        },
        {
          description:
            'The answer as it came from the provider, and the stream as the client got it. Only of calls for which `PUT /v1/capture/wire` asked for it, and if nothing had to be removed from the answer.',
        },
      ),
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
    composition: nullable(RequestComposition),
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
    part: Type.Optional(
      Type.Enum([...contentParts], {
        description: 'Only this part; default: all but `composition`, which is what fills the context.',
      }),
    ),
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
});

export const deleteTraceContent = endpoint({
  id: 'deleteTraceContent',
  method: 'DELETE',
  path: '/v1/traces/{request_id}/content',
  summary: 'Delete what a request asked and was answered.',
  description:
    'Its trace stays. What the request or its answer introduced also disappears from later requests that repeat it, where `[deleted]` stands in its place.',
  tag: 'Traces',
  access: { login: 'any', loginOnly: true },
  params: finishedRequest,
  result: Type.Object({ object: Type.Literal('trace.content.deleted'), deleted: Count }),
});

const matchingQuery = Type.Optional(
  Type.String({
    maxLength: 2_000,
    // One that is empty by mistake must not match all.
    pattern: '\\S',
    description:
      'Only finished requests that match this query, such as `status:failed tag:team=search since:2h`, as in `GET /v1/traces`; without a text.',
  }),
);

export const clearTraceContent = endpoint({
  id: 'clearTraceContent',
  method: 'DELETE',
  path: '/v1/traces/content',
  summary: 'Delete what requests asked and were answered.',
  description:
    'Of all ended requests of the workspace that match, in every place that has their texts: content, stored responses, streams of background responses, runs of threads, cached answers, and answers that an `Idempotency-Key` would repeat. Their traces and usage stay. Of running requests, the content is deleted; `running` tells how many there are.',
  tag: 'Traces',
  access: { login: 'any', loginOnly: true },
  query: Type.Object({
    key: Type.Optional(Type.String({ maxLength: 64, description: 'Only requests of this key.' })),
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only requests for this end user.' }),
    ),
    until: timeRange.until,
    q: matchingQuery,
    only: Type.Optional(
      Type.Enum([...clearedStores], { description: 'Only what is stored there; default: everywhere.' }),
    ),
    forget: Type.Optional(
      Type.Boolean({
        description:
          'Also replaces the name of `user`, in traces, usage, tags, conversations, events and budgets, by a pseudonym that is drawn at random; totals do not change. For owners and admins. Later requests for the same user have its name again, and are not linked with the pseudonym.',
      }),
    ),
  }),
  result: Type.Object(
    {
      object: Type.Literal('trace.texts.deleted'),
      deleted: Type.Integer({
        minimum: 0,
        description: 'Requests whose content was deleted at this daemon.',
      }),
      stores: Type.Array(Type.Object({ store: Type.Enum([...clearedStores]), deleted: Count }), {
        description: 'What was deleted where.',
      }),
      running: Type.Integer({
        minimum: 0,
        description:
          'Requests of that key and end user that run, and whose texts are stored when they end: delete again then. 0 with `q`, which no running request matches.',
      }),
      stays: Type.Array(
        Type.Object({
          store: Type.Enum(Object.keys(stayingRecords) as (keyof typeof stayingRecords)[]),
          what: Type.String(),
        }),
        { description: 'What is kept of these requests nevertheless.' },
      ),
      forgotten: nullable(
        Type.Object(
          {
            pseudonym: Type.String(),
            calls: Type.Integer({ minimum: 0, description: 'That name the pseudonym now.' }),
            rejections: Type.Integer({ minimum: 0, description: 'The same of rejected calls.' }),
            budgets: Type.Array(Type.String(), {
              description: 'Budgets of the user, which count no later calls any more.',
            }),
          },
          { description: 'With `forget`.' },
        ),
      ),
    },
    { $id: 'TextsDeleted' },
  ),
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
    q: matchingQuery,
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
      of: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Requests of the workspace whose content is kept; only without `after`.',
        }),
      ),
      next: nullable(Type.String()),
    },
    { $id: 'TraceMatches' },
  ),
});

/** The most requests whose previews are asked for at once. */
export const previewsMax = 100;

export const listContentPreviews = endpoint({
  id: 'listContentPreviews',
  method: 'GET',
  path: '/v1/traces/previews',
  summary: 'List the last questions and answers of requests.',
  description:
    'Of the requests that are named, in their order, without those whose content is not kept. Each text is one line of at most 200 characters.',
  tag: 'Traces',
  access: readers,
  query: Type.Object({
    requests: Type.String({
      minLength: 1,
      maxLength: previewsMax * 65,
      pattern: '^[\\w,-]+$',
      description: `The ids of requests, separated by commas; at most ${previewsMax}.`,
    }),
  }),
  result: Type.Object(
    {
      object: Type.Literal('trace.previews'),
      data: Type.Array(
        Type.Object({
          request_id: Type.String(),
          question: nullable(
            Type.String({ description: 'The last text of the user; null if there is none.' }),
          ),
          answer: nullable(
            Type.String({
              description:
                'The beginning of the answer, `→ read_file` if it only calls a tool, or the message of the error; null if there is none.',
            }),
          ),
        }),
      ),
    },
    { $id: 'TracePreviews' },
  ),
});

const WireWindows = Type.Array(
  Type.Object({
    key: nullable(Type.String({ description: 'Null for all keys and logins.' })),
    until: Timestamp,
  }),
  { description: 'For which calls the streams are kept as they are.' },
);

const wireResult = Type.Object({ object: Type.Literal('capture.wire'), wire: WireWindows });

export const captureWire = endpoint({
  id: 'captureWire',
  method: 'PUT',
  path: '/v1/capture/wire',
  summary: 'Keep streams as they are for a while.',
  description:
    'Of new calls whose content is kept, also the answer as it came from the provider, and the stream as the client got it, up to 1 MiB each: `wire` of their content. For owners and admins. A restart of the daemon ends it.',
  tag: 'Traces',
  access: { login: 'admin', loginOnly: true },
  body: Type.Object(
    {
      minutes: Type.Integer({ minimum: 1, maximum: wireMinutesMax }),
      key: Type.Optional(
        Type.String({ maxLength: 64, description: 'Only of calls with this key; default: of all.' }),
      ),
    },
    { additionalProperties: false },
  ),
  result: wireResult,
});

export const endCaptureWire = endpoint({
  id: 'endCaptureWire',
  method: 'DELETE',
  path: '/v1/capture/wire',
  summary: 'Stop keeping streams as they are.',
  tag: 'Traces',
  access: { login: 'admin', loginOnly: true },
  result: wireResult,
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
      content: Type.Enum(['off', 'memory', 'disk'], {
        description: '`capture.content` of the configuration.',
      }),
      level: Type.Enum(['off', 'memory', 'disk'], {
        description: 'What is kept of the caller’s calls, if they do not say otherwise.',
      }),
      source: Type.Enum(['host', 'workspace', 'key', 'unasked'], {
        description:
          'What decided `level`. `unasked`: of agents, and of workspaces other than the host’s, nothing is kept until they ask for it.',
      }),
      memory_bytes_max: Count,
      disk_bytes_max: Count,
      disk_days: Type.Integer({ minimum: 1, description: 'How long content is kept on disk.' }),
      requests: Type.Integer({ minimum: 0, description: 'Of this workspace whose content is kept.' }),
      bytes: Type.Integer({ minimum: 0, description: 'What the content of all workspaces takes.' }),
      disk_bytes: Type.Integer({ minimum: 0, description: 'What of it is on disk.' }),
      oldest_at: nullable(Timestamp),
      wire: WireWindows,
      dropped: Type.Integer({
        minimum: 0,
        description:
          'Pieces of content since the start that were not kept, as more came than could be stored.',
      }),
    },
    { $id: 'Capture' },
  ),
});

export type TraceContent = Static<typeof TraceContent>;
export type ContentText = Static<typeof ContentText>;
export type RequestComposition = Static<typeof RequestComposition>;
